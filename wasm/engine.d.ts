/** The engine of rattleback as a module: docs/design/viewer.md, section Engine. */
export interface Contact {
  geom1: number;
  geom2: number;
  mode: "open" | "stick" | "slide";
  gap: number;
  mu: number;
  pos: number[];
  normal: number[];
  /** on geom 2, world axes [N] */
  force: number[];
}

export interface Mark {
  t: number;
  kind: "impact" | "micro" | "group" | "shift" | "located" | "divided" | "below" | "jam" | "failed";
  geom1?: number;
  geom2?: number;
  pos?: number[];
  impulse?: number[];
  text?: string;
}

export class Engine {
  static CERTIFICATE: string[];
  static CONTACT_NUMBERS: number;
  static create(source: BufferSource | WebAssembly.Module): Promise<Engine>;
  readonly version: string;
  readonly memoryBytes: number;
  readonly words: Record<"formulation" | "solver" | "stepper" | "accuracy" | "scheme" | "restitution_law", string[]>;
  putFile(path: string, content: Uint8Array | string): void;
  clearFiles(): void;
  listFiles(): string[];
  load(
    path: string,
    options?: Record<string, string>,
    how?: { packages?: string[]; floatingBase?: boolean; friction?: number; ground?: number },
  ): Simulation;
}

export class Simulation {
  readonly nbody: number;
  readonly nq: number;
  readonly nv: number;
  readonly nctrl: number;
  readonly nkey: number;
  /** rb_status of the last call of step: 0 is fine */
  status: number;
  message: string;
  readonly time: number;
  readonly q: Float64Array;
  readonly v: Float64Array;
  readonly ctrl: Float64Array;
  scene(): any;
  sceneText(): string;
  step(n?: number): number;
  poses(): Float64Array;
  contacts(): Contact[];
  contactArray(): Float64Array;
  tendons(): { tendon: number; points: number[][] }[];
  info(): any;
  certificate(): Float64Array;
  options(): Record<string, string>;
  update(): void;
  energy(): number;
  option(name: string, text: string): void;
  gravity(text: string | number[]): void;
  pull(body: number, at?: number[], to?: number[], stiffness?: number, mass?: number): void;
  save(): string;
  restore(text: string): void;
  hash(): string;
  reset(key?: number): void;
  events(): Mark[];
  record(fps?: number): void;
  replay(): string;
  free(): void;
}
