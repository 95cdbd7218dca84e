/* Planes: a grid of round lengths that fades into the distance where the plane has no end. */

import * as THREE from 'three';
import { isDefault, Theme } from './colors';
import { SceneGeom } from './data';
import { displayed, quickFloor } from './quick';

export interface Floor {
  material: THREE.Material;
  setTheme(theme: Theme): void;
  setCenter(center: THREE.Vector3): void;
}

/* 1, 2 or 5 times a power of ten, about a fifth of the size. */
export function gridSpacing(extent: number): number {
  const raw = Math.max(1e-6, extent / 5), power = 10 ** Math.floor(Math.log10(raw)), rest = raw / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

export function floorMaterial(theme: Theme, extent: number, endless: boolean, geom: SceneGeom, fine: boolean): Floor {
  const uniforms = {
    lineColor: { value: new THREE.Color(theme.line) },
    spacing: { value: gridSpacing(extent) },
    center: { value: new THREE.Vector3() },
    reach: { value: endless ? 9 * extent : 1e9 },
    skyColor: { value: displayed(theme.sky) },
  };
  if (!fine) return quick(theme, endless, geom, uniforms);
  const options = { transparent: endless || geom.rgba[3] < 1, opacity: geom.rgba[3] }; /* a plane is solid below: from there it is not seen */
  const material = new THREE.MeshStandardMaterial({ ...options, roughness: 0.95 });
  material.depthWrite = !endless || geom.rgba[3] >= 1;
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = 'varying vec2 vPlace;\nvarying vec3 vWorld;\n' + shader.vertexShader.replace(
      '#include <begin_vertex>',
      '#include <begin_vertex>\nvPlace = position.xy;\nvWorld = (modelMatrix * vec4(position, 1.0)).xyz;');
    shader.fragmentShader = 'varying vec2 vPlace;\nvarying vec3 vWorld;\nuniform vec3 lineColor, center;\nuniform float spacing, reach;\n'
      + shader.fragmentShader.replace('#include <color_fragment>', GRID);
  };
  material.customProgramCacheKey = () => 'floor';
  material.color.copy(floorColor(geom, endless, theme));
  return {
    material,
    setTheme(t) { material.color.copy(floorColor(geom, endless, t)); uniforms.lineColor.value.set(t.line); },
    setCenter(c) { uniforms.center.value.copy(c); },
  };
}

/* Drawn by the processor. */
function quick(theme: Theme, endless: boolean, geom: SceneGeom, uniforms: { lineColor: THREE.IUniform<THREE.Color>; center: THREE.IUniform<THREE.Vector3>; skyColor: THREE.IUniform<THREE.Color> }): Floor {
  const material = quickFloor({ transparent: geom.rgba[3] < 1, opacity: geom.rgba[3] }, uniforms);
  material.color.copy(floorColor(geom, endless, theme));
  return {
    material,
    setTheme(t) {
      material.color.copy(floorColor(geom, endless, t));
      uniforms.lineColor.value.set(t.line);
      uniforms.skyColor.value.copy(displayed(t.sky));
    },
    setCenter(c) { uniforms.center.value.copy(c); },
  };
}

/* A floor without end is that of the page; others have the colour of the file. */
function floorColor(geom: SceneGeom, endless: boolean, theme: Theme): THREE.Color {
  if (endless || isDefault(geom.rgba)) return new THREE.Color(theme.floor);
  return new THREE.Color().setRGB(geom.rgba[0], geom.rgba[1], geom.rgba[2], THREE.SRGBColorSpace);
}

const GRID = `#include <color_fragment>
{
  float away = distance(vWorld, center);
  vec2 u = vPlace / spacing, w = max(fwidth(u), vec2(1e-4));
  vec2 d = abs(fract(u - 0.5) - 0.5) / w;
  vec2 v = u / 5.0, x = max(fwidth(v), vec2(1e-4)), e = abs(fract(v - 0.5) - 0.5) / x;
  float thin = (1.0 - min(min(d.x, d.y), 1.0)) * (1.0 - smoothstep(0.1, 0.6, max(w.x, w.y)));
  float thick = (1.0 - min(min(e.x, e.y) / 1.4, 1.0)) * (1.0 - smoothstep(0.1, 0.6, max(x.x, x.y)));
  diffuseColor.rgb = mix(diffuseColor.rgb, lineColor, max(0.55 * thin, thick));
  diffuseColor.a *= 1.0 - smoothstep(0.35 * reach, reach, away);
}`;
