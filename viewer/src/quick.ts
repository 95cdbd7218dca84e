/* Materials for pictures that the processor draws: all that a pixel needs is computed at the vertices, light and the curve of the display too, so that a
 * pixel costs a few operations. Light and colours are those of MeshLambertMaterial; round shapes are lit a little flatter. */

import * as THREE from 'three';

/* What vertices know: `lit` in the sun, `dark` in its shadow, as the display wants them. */
const LIGHT = `
#include <common>
#include <color_pars_vertex>
#include <lights_pars_begin>
#include <shadowmap_pars_vertex>
uniform vec3 diffuse;
/* The curve of sRGB within 0.014, without its powers. */
vec3 displayed(vec3 light) { vec3 c = saturate(RECIPROCAL_PI * light); return 1.151 * sqrt(c) - 0.151 * c; }
vec3 skyAt(vec3 n) { return getHemisphereLightIrradiance(hemisphereLights[0], n); }
vec3 sunAt(vec3 n) { return directionalLights[0].color * saturate(dot(n, directionalLights[0].direction)); }`;

const PLACE = `
#include <beginnormal_vertex>
#include <defaultnormal_vertex>
#include <begin_vertex>
#include <project_vertex>
#include <worldpos_vertex>
#include <shadowmap_vertex>
vec3 n = normalize(transformedNormal);`;

const SHADE = `
#include <common>
#include <shadowmap_pars_fragment>
uniform float opacity;
#if defined(USE_SHADOWMAP) && NUM_DIR_LIGHT_SHADOWS > 0
#define SHADOWS
/* 1 in the sun. Its rays are parallel: there is nothing to divide by. */
float sunlight() {
  vec3 at = vDirectionalShadowCoord[0].xyz;
  vec2 off = abs(at.xy - 0.5);
  return max(step(at.z, texture2D(directionalShadowMap[0], at.xy).r), step(0.5, max(off.x, off.y)));
}
#endif`;

const BODY_VERTEX = `${LIGHT}
varying vec3 lit, dark;
void main() {
#include <color_vertex>
${PLACE}
  vec3 own = diffuse;
#ifdef USE_INSTANCING_COLOR
  own *= vColor.rgb;
#endif
  vec3 sky = skyAt(n);
  lit = displayed(own * (sky + sunAt(n)));
#ifdef USE_SHADOWMAP
  dark = displayed(own * sky);
#endif
}`;

const BODY_PIXEL = `${SHADE}
varying vec3 lit, dark;
void main() {
#ifdef SHADOWS
  gl_FragColor = vec4(mix(dark, lit, sunlight()), opacity);
#else
  gl_FragColor = vec4(lit, opacity);
#endif
}`;

/* One colour, no light: marks and arrows. */
const MARK_VERTEX = `
#include <common>
#include <color_pars_vertex>
flat varying vec3 shown;
void main() {
#include <color_vertex>
#include <begin_vertex>
#include <project_vertex>
  shown = vColor.rgb;
}`;
const MARK_PIXEL = `
uniform float opacity;
flat varying vec3 shown;
void main() { gl_FragColor = vec4(shown, opacity); }`;

const FLOOR_VERTEX = `${LIGHT}
uniform vec3 lineColor, center;
uniform float spacing, reach;
flat varying vec3 lit, dark, litLine, darkLine;
varying vec2 place;
varying vec3 away;
void main() {
${PLACE}
  vec3 sky = skyAt(n), all = sky + sunAt(n);
  lit = displayed(diffuse * all);
  dark = displayed(diffuse * sky);
  litLine = displayed(lineColor * all);
  darkLine = displayed(lineColor * sky);
  place = position.xy / spacing;
  away = ((modelMatrix * vec4(position, 1.0)).xyz - center) / reach;
}`;

/* The grid of floor.ts. Where the floor has no end it fades into the sky, which is one colour: nothing has to be blended. */
const FLOOR_PIXEL = `${SHADE}
uniform vec3 skyColor;
flat varying vec3 lit, dark, litLine, darkLine;
varying vec2 place;
varying vec3 away;
void main() {
  vec2 w = max(fwidth(place), vec2(1e-4)), r = 1.0 / w;
  vec2 d = abs(fract(place - 0.5) - 0.5) * r, e = abs(fract(0.2 * place - 0.5) - 0.5) * r * 3.6;
  float wide = max(w.x, w.y);
  float thin = saturate(1.0 - min(d.x, d.y)) * saturate(1.2 - 2.0 * wide), thick = saturate(1.0 - min(e.x, e.y)) * saturate(1.2 - 0.4 * wide);
  float line = max(0.55 * thin, thick);
  vec3 color = mix(lit, litLine, line);
#ifdef SHADOWS
  color = mix(mix(dark, darkLine, line), color, sunlight());
#endif
  float far = saturate(1.55 * sqrt(dot(away, away)) - 0.55);
  gl_FragColor = vec4(mix(color, skyColor, far * far * (3.0 - 2.0 * far)), opacity);
}`;

/* The numbers of a colour as the display has them. */
export const displayed = (color: number): THREE.Color => new THREE.Color().setHex(color, THREE.LinearSRGBColorSpace);

function written(material: THREE.Material, name: string, vertex: string, pixel: string, uniforms: Record<string, THREE.IUniform> = {}): void {
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = vertex;
    shader.fragmentShader = pixel;
  };
  material.customProgramCacheKey = () => name;
}

export function quickBody(options: THREE.MeshLambertMaterialParameters): THREE.MeshLambertMaterial {
  const material = new THREE.MeshLambertMaterial(options);
  written(material, 'quick body', BODY_VERTEX, BODY_PIXEL);
  return material;
}

export function quickFloor(options: THREE.MeshLambertMaterialParameters, uniforms: Record<string, THREE.IUniform>): THREE.MeshLambertMaterial {
  const material = new THREE.MeshLambertMaterial(options);
  written(material, 'quick floor', FLOOR_VERTEX, FLOOR_PIXEL, uniforms);
  return material;
}

/* Colours of vertices as the display has them. */
export function quickMark(options: THREE.MeshBasicMaterialParameters): THREE.MeshBasicMaterial {
  const material = new THREE.MeshBasicMaterial(options);
  written(material, 'quick mark', MARK_VERTEX, MARK_PIXEL);
  return material;
}
