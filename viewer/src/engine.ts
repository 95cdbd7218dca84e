/* The engine as the page sees it: wasm/engine.js around rattleback.wasm. */

import { Engine as Made } from '../../wasm/engine.js';
import { Scene } from './data';

export interface StepInfo {
  residual: number; penetration: number; contacts: number; active: number; rows: number; islands: number; solves: number;
  parts: number; below_accuracy: number; energy_created: number; impacts: number; events: number; shifts: number;
  jam_speed: number; njam: number; jam: JamPart[]; path: string;
}
export interface JamPart { id: Record<string, number>; nrow: number; p: number[]; pos: number[]; frame: number[] }

export interface Sim {
  status: number; message: string; readonly time: number;
  readonly q: Float64Array; readonly v: Float64Array; readonly ctrl: Float64Array;
  scene(): Scene;
  step(n: number): number;
  update(): void;
  poses(): Float64Array;
  contactArray(): Float64Array;
  tendons(): { tendon: number; points: number[][] }[];
  info(): StepInfo;
  certificate(): Float64Array;
  energy(): number;
  option(name: string, text: string): void;
  options(): Record<string, string>;
  pull(body: number, point?: number[], target?: number[], stiffness?: number, mass?: number): void;
  save(): string;
  restore(text: string): void;
  hash(): string;
  reset(key?: number): void;
  events(): { t: number; kind: string; pos?: number[]; impulse?: number[]; text?: string }[];
  free(): void;
}

export interface Engine {
  readonly memoryBytes: number;
  readonly words: Record<string, string[]>;
  putFile(path: string, bytes: Uint8Array): void;
  load(path: string, options?: Record<string, string>, how?: { packages?: string[]; floatingBase?: boolean; friction?: number; ground?: number }): Sim;
}

export async function createEngine(wasm: Uint8Array): Promise<Engine> {
  return await (Made as unknown as { create(bytes: Uint8Array): Promise<Engine> }).create(wasm);
}

/* Numbers of `certificate()` by their names: asked for in every picture, so that no text is made. */
export const CERTIFICATE = (Made as unknown as { CERTIFICATE: string[] }).CERTIFICATE;
