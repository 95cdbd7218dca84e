/* One picture of one scene: renderer, light, camera, and the layers on top of the bodies. */

import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { Bodies, Shown } from './bodies';
import { Theme, ThemeName, THEMES } from './colors';
import { ContactLayer } from './contactlayer';
import { Contacts, Jam, Mark, Polyline, Scene } from './data';
import { ModelLayer } from './modellayer';

export interface Moment {
  t: number; poses: ArrayLike<number>; contacts: Contacts; tendons: () => Polyline[];
  marks: Mark[]; jam?: Jam | null;
}

export interface Shows {
  points: boolean; forces: boolean; cones: boolean; open: boolean; events: boolean;
  frames: boolean; joints: boolean; sites: boolean; masses: boolean; trails: boolean; tendons: boolean;
  glass: boolean; shadows: boolean; collision: boolean; floor: boolean;
}

export const SHOWS: Shows = {
  points: true, forces: true, cones: false, open: false, events: true, frames: false, joints: false, sites: false,
  masses: false, trails: false, tendons: true, glass: false, shadows: true, collision: false, floor: true,
};

/* Work is taken off the picture where frames follow each other more slowly than this [ms], as without a graphics processor. */
const SLOW_FRAME = 110;
const CROWD = 200; /* geoms from which on they cast no shadows there while they move */
const REST = 15; /* a picture that stayed the same for so many ticks of the page is drawn once more, as well as it can be */
const MOST_PIXELS = 6e6; /* of that picture */
const RATIOS = [1, 0.8, 0.8, 0.6]; /* pixels of the canvas beside those of the page, by the work that was taken off */

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly camera = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly software: boolean;
  bodies: Bodies;
  follow = -1;
  frameTime = 0;
  future: ArrayLike<number>[] = []; /* poses that the first picture should have room for */
  private readonly renderer: THREE.WebGLRenderer;
  private readonly world = new THREE.Scene();
  private readonly sky = new THREE.HemisphereLight();
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2);
  private contacts!: ContactLayer;
  private model!: ModelLayer;
  private theme: Theme;
  private size = 1;
  private shows: Shows = { ...SHOWS };
  private forceScale = 1;
  private dirty = true;
  private last: Moment | null = null;
  private past: ((t: number) => void) | null = null;
  private readonly followed = new THREE.Vector3();
  private steps = 0; /* of work that was taken off */
  private lastDrawn = 0;
  private idle = 0;
  private pictures = 0;
  private rested = false; /* the picture is the good one */
  private readonly marker: THREE.Line;

  /* Without a graphics processor pictures are drawn with less effort, but for those that are kept. */
  private get thrifty(): boolean { return this.software && !this.plain; }
  private get crowd(): boolean { return this.scene.geoms.length > CROWD; }

  constructor(readonly scene: Scene, parent: HTMLElement, theme: ThemeName, readonly plain: boolean) {
    this.theme = THEMES[theme];
    const canvas = document.createElement('canvas');
    this.software = isSoftware();
    const antialias = plain || !this.software;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias, preserveDrawingBuffer: plain, powerPreference: 'high-performance' });
    this.canvas = canvas;
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', `3D picture of ${scene.name}. Arrow keys turn the camera, plus and minus zoom.`);
    parent.append(canvas);
    this.renderer.setPixelRatio(this.thrifty ? 1 : Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = !this.thrifty;
    this.renderer.shadowMap.type = this.thrifty ? THREE.BasicShadowMap : THREE.PCFShadowMap;
    this.world.add(this.sky, this.sun, this.sun.target);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.bodies = new Bodies(scene, this.theme, !this.thrifty);
    this.world.add(this.bodies.group);
    this.marker = new THREE.Line(new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
      new THREE.LineBasicMaterial({ color: 0xffc83d, depthTest: false, transparent: true }));
    this.marker.frustumCulled = false;
    this.marker.visible = false;
    this.marker.renderOrder = 20;
    this.world.add(this.marker);
    this.bodies.update(startPoses(scene), this.controls.target);
    this.resize();
    this.frameAll();
    this.makeLayers();
    this.setTheme(theme);
    new ResizeObserver(() => this.resize()).observe(parent);
  }

  private makeLayers(): void {
    this.contacts = new ContactLayer(this.scene, this.theme, this.size, this.thrifty);
    this.model = new ModelLayer(this.scene, this.bodies, this.size);
    this.world.add(this.contacts.group, this.model.group);
  }

  setTheme(name: ThemeName): void {
    this.theme = THEMES[name];
    this.world.background = new THREE.Color(this.theme.sky);
    const [up, down, strength] = this.theme.hemisphere;
    this.sky.color.set(up); this.sky.groundColor.set(down); this.sky.intensity = strength;
    this.sky.position.set(0, 0, 1);
    this.sun.intensity = this.theme.sun;
    this.bodies.setTheme(this.theme);
    this.contacts.group.removeFromParent();
    this.contacts.dispose();
    this.contacts = new ContactLayer(this.scene, this.theme, this.size, this.thrifty);
    this.world.add(this.contacts.group);
    this.apply(this.shows, this.forceScale);
  }

  apply(shows: Shows, forceScale: number): void {
    const before = this.shows;
    this.shows = { ...shows };
    this.forceScale = forceScale;
    Object.assign(this.contacts, { points: shows.points, forces: shows.forces, cones: shows.cones, open: shows.open, events: shows.events, forceScale });
    Object.assign(this.model, { frames: shows.frames, joints: shows.joints, sites: shows.sites, masses: shows.masses, trails: shows.trails, tendons: shows.tendons });
    if (before.collision !== shows.collision) this.bodies.setShown((shows.collision ? 'collision' : 'seen') as Shown);
    this.bodies.setOpacity(shows.glass ? 0.35 : 1);
    this.sun.castShadow = this.casts();
    if (shows.trails && !before.trails) this.recall();
    if (this.last) this.show(this.last);
    this.dirty = true;
  }

  select(body: number): void { this.bodies.select(body); this.dirty = true; }

  /* The camera sees all that moves, from the front and above. */
  frameAll(azimuth = -52, elevation = 18, distance = 0): void {
    const box = this.bodies.bounds(), center = new THREE.Vector3(), span = new THREE.Vector3();
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 1));
    this.widen(box);
    box.getCenter(center);
    box.getSize(span);
    this.size = Math.max(1e-4, Math.min(span.length(), 6 * (this.scene.extent || Infinity)));
    this.look(azimuth, elevation, distance || 1.7 * this.size * Math.max(1, 1.1 / this.camera.aspect), center);
    this.light(center);
  }

  /* What happens later is to be seen too: a few bodies may go far, a mechanism of many not much further than it is large. */
  private widen(box: THREE.Box3): void {
    const moving = this.scene.bodies.filter((b) => b.moves).length, length = box.getSize(new THREE.Vector3()).length();
    const reach = (moving <= 4 ? 5 : 0.7) * length, low = box.min.clone().subScalar(reach), high = box.max.clone().addScalar(reach);
    for (const poses of this.future) {
      this.bodies.update(poses, this.controls.target);
      box.union(this.bodies.bounds());
    }
    const floor = this.bodies.floorBelow(box);
    if (floor !== null) box.min.z = floor;
    box.min.max(low);
    box.max.min(high);
    if (this.last) this.bodies.update(this.last.poses, this.controls.target);
  }

  /* Angles in degrees; the target stays where none is given. */
  look(azimuth: number, elevation: number, distance: number, target?: THREE.Vector3): void {
    const a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    if (target) this.controls.target.copy(target);
    this.camera.position.copy(this.controls.target).add(
      new THREE.Vector3(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)).multiplyScalar(distance));
    this.camera.near = distance / 200;
    this.camera.far = distance * 200;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = this.size / 50;
    this.controls.maxDistance = this.size * 30;
    this.controls.update();
    this.dirty = true;
  }

  private light(center: THREE.Vector3): void {
    const reach = 1.1 * this.size, shadow = this.sun.shadow;
    this.sun.position.copy(center).add(new THREE.Vector3(0.5, -0.35, 1).multiplyScalar(2 * this.size));
    this.sun.target.position.copy(center);
    shadow.camera.left = shadow.camera.bottom = -reach;
    shadow.camera.right = shadow.camera.top = reach;
    shadow.camera.near = 0.05 * this.size;
    shadow.camera.far = 6 * this.size;
    shadow.camera.updateProjectionMatrix();
    shadow.radius = 3;
    this.sharpen(this.thrifty && !this.rested ? 512 : 2048);
  }

  /* Shadows of so many texels. */
  private sharpen(texels: number): void {
    const { shadow } = this.sun;
    shadow.normalBias = 1.65 * this.size / texels;
    if (shadow.mapSize.x === texels) return;
    shadow.mapSize.set(texels, texels);
    shadow.map?.dispose();
    shadow.map = null;
  }

  /* Arrow keys and buttons: turn by degrees, zoom by a factor. */
  turn(azimuth: number, elevation: number, zoom = 1): void {
    const at = this.camera.position.clone().sub(this.controls.target), r = at.length();
    const a = Math.atan2(at.y, at.x) * 180 / Math.PI + azimuth;
    const e = Math.min(89, Math.max(-89, Math.asin(at.z / r) * 180 / Math.PI + elevation));
    this.look(a, e, r * zoom);
  }

  viewFrom(): { azimuth: number; elevation: number; distance: number } {
    const at = this.camera.position.clone().sub(this.controls.target), r = at.length();
    return { azimuth: Math.atan2(at.y, at.x) * 180 / Math.PI, elevation: Math.asin(at.z / r) * 180 / Math.PI, distance: r };
  }

  copyCamera(other: Stage): void {
    if (this.camera.position.equals(other.camera.position) && this.controls.target.equals(other.controls.target)) return;
    this.camera.position.copy(other.camera.position);
    this.controls.target.copy(other.controls.target);
    this.controls.update();
    this.dirty = true;
  }

  followBody(body: number): void {
    this.follow = body;
    if (body >= 0) {
      this.followed.setFromMatrixPosition(this.bodies.frameOf(body));
      const by = this.followed.clone().sub(this.controls.target);
      this.controls.target.add(by);
      this.camera.position.add(by);
      this.controls.update();
    }
    this.dirty = true;
  }

  show(moment: Moment): void {
    this.last = moment;
    this.bodies.update(moment.poses, this.controls.target);
    if (this.follow >= 0) this.keepUp();
    this.contacts.update(moment.contacts);
    if (moment.jam) this.contacts.updateJam(moment.jam);
    this.contacts.updateEvents(moment.marks, moment.t, 0.08);
    this.model.update(moment.t, moment.poses, moment.tendons);
    this.dirty = true;
  }

  /* Where the past is known trails begin in it. */
  retrace(t: number, posesAt: (t: number) => ArrayLike<number>, step: number): void {
    this.past = (now) => this.model.retrace(now, posesAt, step);
    this.past(t);
  }

  private recall(): void { if (this.last) this.past?.(this.last.t); }

  private keepUp(): void {
    const at = new THREE.Vector3().setFromMatrixPosition(this.bodies.frameOf(this.follow)), by = at.clone().sub(this.followed);
    this.followed.copy(at);
    this.controls.target.add(by);
    this.camera.position.add(by);
    this.sun.position.add(by);
    this.sun.target.position.add(by);
    this.controls.update();
  }

  /* The spring by which a body is pulled. */
  showPull(from: THREE.Vector3 | null, to?: THREE.Vector3): void {
    this.marker.visible = from !== null;
    if (from && to) this.marker.geometry.setFromPoints([from, to]);
    this.dirty = true;
  }

  rayAt(x: number, y: number): THREE.Raycaster {
    const box = this.canvas.getBoundingClientRect(), ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * (x - box.left) / box.width - 1, 1 - 2 * (y - box.top) / box.height), this.camera);
    return ray;
  }

  /* Where a point of the world is in the picture, CSS pixels of the canvas. */
  project(point: THREE.Vector3): [number, number] {
    const p = point.clone().project(this.camera), box = this.canvas.getBoundingClientRect();
    return [(p.x + 1) / 2 * box.width, (1 - p.y) / 2 * box.height];
  }

  changed(): void { this.dirty = true; }

  /* True where there was something to draw. */
  render(now = performance.now()): boolean {
    if (!this.dirty) return this.rest();
    if (this.rested) this.setEffort(false);
    this.dirty = false;
    this.idle = 0;
    if (this.lastDrawn === 0 || this.pictures++ % 2 === 0) this.renderer.shadowMap.needsUpdate = true; /* every second one while they move */
    this.renderer.render(this.world, this.camera);
    if (this.lastDrawn > 0) this.frameTime += 0.1 * (Math.min(500, now - this.lastDrawn) - this.frameTime);
    this.lastDrawn = now;
    if (this.frameTime > SLOW_FRAME && this.thrifty) this.takeOff();
    return true;
  }

  /* Nothing moves: there is time for smooth edges, and for shadows of many bodies. */
  private rest(): boolean {
    this.lastDrawn = 0;
    if (!this.thrifty || this.rested || this.idle++ < REST) return false;
    this.setEffort(true);
    this.dirty = false;
    this.renderer.render(this.world, this.camera);
    return true;
  }

  private setEffort(rested: boolean): void {
    this.rested = rested;
    this.sun.castShadow = this.casts();
    this.sharpen(rested ? 2048 : 512);
    this.renderer.shadowMap.needsUpdate = true;
    const { clientWidth, clientHeight } = this.canvas, most = Math.sqrt(MOST_PIXELS / Math.max(1, clientWidth * clientHeight));
    this.renderer.setPixelRatio(rested ? Math.max(1, Math.min(2, most)) : RATIOS[this.steps]);
  }

  private casts(): boolean {
    if (!this.shows.shadows) return false;
    return !this.thrifty || this.rested || this.steps < 2 && !this.crowd;
  }

  /* First fewer pixels, then no shadows, then fewer pixels still. */
  private takeOff(): void {
    if (this.steps >= 3) return;
    this.steps++;
    this.frameTime = 0;
    this.setEffort(false);
    this.dirty = true;
  }

  private resize(): void {
    const parent = this.canvas.parentElement;
    if (!parent) return;
    const width = Math.max(1, parent.clientWidth), height = Math.max(1, parent.clientHeight);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  get memory(): { geometries: number; textures: number } { return { ...this.renderer.info.memory }; }

  dispose(): void {
    this.contacts.dispose();
    this.model.dispose();
    this.bodies.dispose();
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }
}

export function startPoses(scene: Scene): Float64Array {
  const out = new Float64Array(7 * scene.bodies.length);
  scene.bodies.forEach((body, i) => { out.set(body.pos, 7 * i); out.set(body.quat, 7 * i + 3); });
  return out;
}

/* Asked of a context of its own, once: without a graphics processor pictures are drawn with less effort. */
let softwareKnown: boolean | null = null;
function isSoftware(): boolean {
  if (softwareKnown !== null) return softwareKnown;
  const gl = document.createElement('canvas').getContext('webgl2');
  const ask = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = gl && ask ? String(gl.getParameter(ask.UNMASKED_RENDERER_WEBGL)) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  softwareKnown = /swiftshader|llvmpipe|software/i.test(name);
  return softwareKnown;
}
