/* What the page is given: scene and replay as docs/design/viewer.md has them, and their numbers. */

export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; /* w x y z */

export interface SceneBody {
  name: string; parent: number; mass: number; com: Vec3; moves: number; pos: Vec3; quat: Quat;
}
export type Shape = 'plane' | 'sphere' | 'capsule' | 'cylinder' | 'ellipsoid' | 'box' | 'mesh' | 'hfield';
export interface SceneGeom {
  name: string; body: number; type: Shape; size: number[]; pos: Vec3; quat: Quat;
  rgba: [number, number, number, number]; group: number; collides: number; asset: number; surface: number;
}
export interface SceneMesh {
  name: string; nvert: number; nface: number; lo: Vec3; hi: Vec3;
  vert_u16: string; face_u16?: string; face_u32?: string;
}
export interface SceneField { name: string; nrow: number; ncol: number; size: number[]; elev_f32: string }
export interface SceneSite { name: string; body: number; type: Shape; size: number[]; pos: Vec3; quat: Quat }
export interface SceneJoint {
  name: string; type: 'free' | 'ball' | 'slide' | 'hinge'; body: number; pos: Vec3; axis: Vec3;
  limited: number; range: [number, number]; qadr: number; dofadr: number; ref: number;
}
export interface SceneActuator { name: string; control: number; limited: number; range: [number, number] }
export interface Scene {
  format: string; version: string; name: string; extent: number; gravity: Vec3; timestep: number;
  nq: number; nv: number;
  bodies: SceneBody[]; geoms: SceneGeom[]; meshes: SceneMesh[]; hfields: SceneField[];
  sites: SceneSite[]; joints: SceneJoint[]; actuators: SceneActuator[];
  tendons: { name: string; spatial: number }[]; keys: { name: string; time: number }[];
  lost_mesh: number;
}

export interface Mark {
  t: number; kind: string; geom1?: number; geom2?: number; pos?: Vec3; impulse?: Vec3; text?: string;
}
export interface Plot { name: string; unit: string; group: string; y_f32: string }
export interface Jam { speed: number; parts: { geom1: number; geom2: number; pos: Vec3; force: Vec3 }[] }
export interface Run {
  model: string; h: number; steps: number; failures: number; formulation: string; solver: string;
  stepper: string; accuracy: string; tolerance: number; residual_max: number; penetration_max: number;
  below_accuracy: number; hash: string; message: string;
}
export interface Replay {
  format: string; scene: Scene; run: Run; n: number; time_f64: string; moving: number[];
  lo: Vec3[]; hi: Vec3[]; pose_u16: string;
  lost: { position: number; angle: number; contact: number; normal: number };
  contacts: {
    start_u32: string; pairs: [number, number, number][]; pair_u32: string; mode_u8: string;
    lo: Vec3; hi: Vec3; pos_u16: string; normal_i16: string; force_f32: string; left_out: number;
  };
  tendons: { start_u32: string; owner_u32: string; point_f32: string };
  marks: Mark[]; marks_left_out: number; plots: Plot[]; plots_left_out: number; jam?: Jam | null;
}

export const MODES = ['open', 'stick', 'slide'] as const;

/* Contacts of one instant, numbers side by side: what the drawing reads, whoever fills it. */
export class Contacts {
  n = 0;
  geom1 = new Int32Array(0); geom2 = new Int32Array(0); mode = new Uint8Array(0);
  mu = new Float64Array(0); gap = new Float64Array(0);
  pos = new Float64Array(0); normal = new Float64Array(0); force = new Float64Array(0);

  reserve(n: number): void {
    this.n = n;
    if (n <= this.mode.length) return;
    const room = Math.max(16, 2 * n);
    this.geom1 = new Int32Array(room); this.geom2 = new Int32Array(room); this.mode = new Uint8Array(room);
    this.mu = new Float64Array(room); this.gap = new Float64Array(room);
    this.pos = new Float64Array(3 * room); this.normal = new Float64Array(3 * room);
    this.force = new Float64Array(3 * room);
  }
}

export interface Polyline { tendon: number; points: ArrayLike<number> }

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

export const u16 = (text: string): Uint16Array => new Uint16Array(bytesOf(text).buffer);
export const i16 = (text: string): Int16Array => new Int16Array(bytesOf(text).buffer);
export const u32 = (text: string): Uint32Array => new Uint32Array(bytesOf(text).buffer);
export const f32 = (text: string): Float32Array => new Float32Array(bytesOf(text).buffer);
export const f64 = (text: string): Float64Array => new Float64Array(bytesOf(text).buffer);

/* Contents of a script tag that holds data, null where there is none. */
export function tagText(id: string): string | null {
  const tag = document.getElementById(id);
  return tag instanceof HTMLScriptElement ? (tag.textContent ?? '').trim() : null;
}
