/* The engine of rattleback in a browser or in Node: an ES module without dependencies.
 * What each call does: docs/design/viewer.md, section Engine. Types: engine.d.ts. */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/* ---- files in memory, as the system interface that C programs see (WASI) ----------------------- */

const SUCCESS = 0, BADF = 8, INVAL = 28, NOENT = 44, NOSYS = 52, ISDIR = 31, ROFS = 69;
const CHARACTER_DEVICE = 2, DIRECTORY = 3, REGULAR_FILE = 4;
const ROOT = 3; // the first number that is free for a folder given to the program

class Exit extends Error {}

/** @param {string} path */
function normal(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}

class Files {
  constructor() {
    /** @type {Map<string, Uint8Array>} */
    this.content = new Map();
    /** @type {Map<number, {path: string, at: number, folder: boolean}>} */
    this.open = new Map();
    this.next = ROOT + 1;
    /** @type {WebAssembly.Memory | null} */
    this.memory = null;
    this.output = "";
  }

  view() {
    return new DataView(/** @type {WebAssembly.Memory} */ (this.memory).buffer);
  }

  bytes(at, size) {
    return new Uint8Array(/** @type {WebAssembly.Memory} */ (this.memory).buffer, at, size);
  }

  isFolder(path) {
    if (path === "") return true;
    for (const name of this.content.keys()) if (name.startsWith(path + "/")) return true;
    return false;
  }

  pathAt(at, size) {
    return normal(decoder.decode(this.bytes(at, size)));
  }

  /** size and kind of a file, as the system tells them */
  tell(at, path, folder) {
    const view = this.view();
    this.bytes(at, 64).fill(0);
    view.setUint8(at + 16, folder ? DIRECTORY : REGULAR_FILE);
    view.setBigUint64(at + 32, BigInt(folder ? 0 : this.content.get(path).length), true);
  }

  imports() {
    const f = this;
    return {
      args_get: () => SUCCESS,
      args_sizes_get: (count, size) => f.zero(count, size),
      environ_get: () => SUCCESS,
      environ_sizes_get: (count, size) => f.zero(count, size),
      clock_time_get: (id, precision, at) => {
        f.view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return SUCCESS;
      },
      proc_exit: (code) => {
        throw new Exit(`the engine ended with ${code}`);
      },
      fd_prestat_get: (fd, at) => {
        if (fd !== ROOT) return BADF;
        f.view().setUint32(at, 0, true);
        f.view().setUint32(at + 4, 1, true);
        return SUCCESS;
      },
      fd_prestat_dir_name: (fd, at) => {
        if (fd !== ROOT) return BADF;
        f.bytes(at, 1)[0] = 0x2f;
        return SUCCESS;
      },
      fd_fdstat_get: (fd, at) => {
        const file = f.open.get(fd);
        if (fd > ROOT && !file) return BADF;
        const view = f.view();
        f.bytes(at, 24).fill(0);
        view.setUint8(at, fd < ROOT ? CHARACTER_DEVICE : fd === ROOT || file.folder ? DIRECTORY : REGULAR_FILE);
        view.setBigUint64(at + 8, ~0n, true);
        view.setBigUint64(at + 16, ~0n, true);
        return SUCCESS;
      },
      fd_fdstat_set_flags: () => SUCCESS,
      path_open: (dir, flags, at, size, oflags, rights, inheriting, fdflags, out) => {
        const path = f.pathAt(at, size);
        const folder = !f.content.has(path);
        if (path === "dev/null") return f.give({ path, at: 0, folder: false }, out);
        if (oflags & 1) return ROFS;
        if (folder && !f.isFolder(path)) return NOENT;
        return f.give({ path, at: 0, folder }, out);
      },
      path_filestat_get: (dir, flags, at, size, out) => {
        const path = f.pathAt(at, size), folder = !f.content.has(path);
        if (folder && !f.isFolder(path)) return NOENT;
        f.tell(out, path, folder);
        return SUCCESS;
      },
      path_readlink: () => INVAL,
      fd_filestat_get: (fd, out) => {
        const file = f.open.get(fd);
        if (fd < ROOT) return BADF;
        if (!file && fd !== ROOT) return BADF;
        f.tell(out, file ? file.path : "", !file || file.folder);
        return SUCCESS;
      },
      fd_read: (fd, vectors, count, out) => {
        const file = f.open.get(fd);
        if (!file) return BADF;
        if (file.folder) return ISDIR;
        const content = f.content.get(file.path) ?? new Uint8Array(0);
        let total = 0;
        for (let i = 0; i < count; i++) {
          const at = f.view().getUint32(vectors + 8 * i, true), room = f.view().getUint32(vectors + 8 * i + 4, true);
          const part = content.subarray(file.at, file.at + room);
          f.bytes(at, part.length).set(part);
          file.at += part.length;
          total += part.length;
        }
        f.view().setUint32(out, total, true);
        return SUCCESS;
      },
      fd_write: (fd, vectors, count, out) => {
        let total = 0;
        for (let i = 0; i < count; i++) {
          const at = f.view().getUint32(vectors + 8 * i, true), size = f.view().getUint32(vectors + 8 * i + 4, true);
          if (fd === 1 || fd === 2) f.output = (f.output + decoder.decode(f.bytes(at, size).slice())).slice(-10000);
          total += size;
        }
        f.view().setUint32(out, total, true);
        return SUCCESS;
      },
      fd_seek: (fd, offset, whence, out) => {
        const file = f.open.get(fd);
        if (!file) return fd < ROOT ? INVAL : BADF;
        const size = f.content.get(file.path)?.length ?? 0;
        const from = whence === 0 ? 0 : whence === 1 ? file.at : size;
        const to = from + Number(offset);
        if (to < 0) return INVAL;
        file.at = to;
        f.view().setBigUint64(out, BigInt(to), true);
        return SUCCESS;
      },
      fd_close: (fd) => (f.open.delete(fd) ? SUCCESS : BADF),
    };
  }

  zero(...places) {
    for (const at of places) this.view().setUint32(at, 0, true);
    return SUCCESS;
  }

  give(file, out) {
    this.open.set(this.next, file);
    this.view().setUint32(out, this.next++, true);
    return SUCCESS;
  }
}

/* ---- the engine ---------------------------------------------------------------------------------- */

const CERTIFICATE = ["residual", "velocity_residual", "penetration", "penetration_made", "loop_error",
  "energy_created", "contacts", "active", "rows", "islands", "parts", "impacts", "shifts", "below_accuracy",
  "fallbacks", "work"];
const CONTACT_NUMBERS = 14;
const OPTION_WORDS = { mu: "friction", e: "restitution", step: "h" };

export class Engine {
  /** Names of the numbers of Simulation.certificate(). */
  static CERTIFICATE = CERTIFICATE;
  static CONTACT_NUMBERS = CONTACT_NUMBERS;

  /** @param {BufferSource | WebAssembly.Module} source */
  static async create(source) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    const files = new Files();
    const known = files.imports();
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = known[name] ?? (() => NOSYS);
    }
    const instance = await WebAssembly.instantiate(module, imports);
    return new Engine(instance, files);
  }

  constructor(instance, files) {
    this.wasm = instance.exports;
    this.files = files;
    files.memory = this.wasm.memory;
    this.wasm._initialize();
    this.version = this.textAt(this.wasm.rbw_version());
  }

  /** Bytes of the memory that the engine has taken; it never gives any back. */
  get memoryBytes() {
    return this.wasm.memory.buffer.byteLength;
  }

  /** @param {string} path @param {Uint8Array | string} content */
  putFile(path, content) {
    this.files.content.set(normal(path), typeof content === "string" ? encoder.encode(content) : content);
  }

  clearFiles() {
    this.files.content.clear();
  }

  listFiles() {
    return [...this.files.content.keys()];
  }

  textAt(at) {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    let end = at;
    while (memory[end] !== 0) end++;
    return decoder.decode(memory.subarray(at, end));
  }

  /** Text that C made: read, then given back. */
  take(at) {
    if (at === 0) throw new Error(this.textAt(this.wasm.rbw_error()));
    const text = this.textAt(at);
    this.wasm.rbw_release(at);
    return text;
  }

  /** Calls `use` with the addresses of these texts. */
  withTexts(texts, use) {
    const places = texts.map((text) => {
      const bytes = encoder.encode(text);
      const at = this.wasm.rbw_alloc(bytes.length + 1);
      const memory = new Uint8Array(this.wasm.memory.buffer);
      memory.set(bytes, at);
      memory[at + bytes.length] = 0;
      return at;
    });
    try {
      return use(...places);
    } finally {
      for (const at of places) this.wasm.rbw_release(at);
    }
  }

  error() {
    return new Error(this.textAt(this.wasm.rbw_error()));
  }

  /** Words that options take: { formulation: [..], solver: [..], .. } */
  get words() {
    return JSON.parse(this.take(this.wasm.rbw_words()));
  }

  /** Loads a model of the files that were put. Throws the sentence that the command prints.
   * @param {string} path
   * @param {Record<string, string>} options words of `rattleback run`
   * @param {{packages?: string[], floatingBase?: boolean, friction?: number, ground?: number}} how */
  load(path, options = {}, how = {}) {
    const place = "/" + normal(path);
    const packages = (how.packages ?? []).join("\n");
    const handle = this.withTexts([place, packages], (at, list) =>
      this.wasm.rbw_load(at, list, how.floatingBase ? 1 : 0, how.friction ?? NaN, how.ground ?? NaN));
    if (handle === 0) {
      // paths are absolute within the memory; people know them as they named them
      throw new Error(this.error().message.replaceAll(place, path));
    }
    const sim = new Simulation(this, handle);
    try {
      for (const [name, text] of Object.entries(options)) sim.option(name, String(text));
    } catch (error) {
      sim.free();
      throw error;
    }
    return sim;
  }
}

export class Simulation {
  constructor(engine, handle) {
    this.engine = engine;
    this.wasm = engine.wasm;
    this.handle = handle;
    this.status = 0;
    this.message = "";
    this.lawGiven = false;
    const count = (what) => engine.withTexts([what], (at) => this.wasm.rbw_count(handle, at));
    this.nbody = count("nbody");
    this.nq = count("nq");
    this.nv = count("nv");
    this.nctrl = count("nctrl");
    this.nkey = count("nkey");
  }

  numbers(at, count) {
    return new Float64Array(this.wasm.memory.buffer, at, count);
  }

  /* views hold until the memory grows: take them anew after each call */
  get q() { return this.numbers(this.wasm.rbw_q(this.handle), this.nq); }
  get v() { return this.numbers(this.wasm.rbw_v(this.handle), this.nv); }
  get ctrl() { return this.numbers(this.wasm.rbw_ctrl(this.handle), this.nctrl); }
  get time() { return this.wasm.rbw_time(this.handle); }

  scene() { return JSON.parse(this.engine.take(this.wasm.rbw_scene(this.handle))); }
  sceneText() { return this.engine.take(this.wasm.rbw_scene(this.handle)); }
  info() { return JSON.parse(this.engine.take(this.wasm.rbw_info(this.handle))); }
  hash() { return this.engine.take(this.wasm.rbw_hash(this.handle)); }
  options() { return JSON.parse(this.engine.take(this.wasm.rbw_options(this.handle))); }
  /** after q or v were written: contacts of the last step are forgotten, frames are new */
  update() { this.wasm.rbw_update(this.handle); }
  energy() { return this.wasm.rbw_energy(this.handle); }
  tendons() { return JSON.parse(this.engine.take(this.wasm.rbw_tendons(this.handle))); }
  events() { return JSON.parse(this.engine.take(this.wasm.rbw_events(this.handle))); }
  save() { return this.engine.take(this.wasm.rbw_save(this.handle)); }
  replay() { return this.engine.take(this.wasm.rbw_replay(this.handle)); }

  /** Steps that were taken; fewer than n: status and message say why. */
  step(n = 1) {
    const done = this.wasm.rbw_step(this.handle, n);
    this.status = this.wasm.rbw_status();
    this.message = done < n ? this.engine.error().message : "";
    return done;
  }

  poses() {
    return this.numbers(this.wasm.rbw_poses(this.handle), 7 * this.nbody);
  }

  contactArray() {
    const at = this.wasm.rbw_contacts(this.handle);
    const n = this.engine.withTexts(["contacts"], (what) => this.wasm.rbw_count(this.handle, what));
    return this.numbers(at, CONTACT_NUMBERS * n);
  }

  contacts() {
    const x = this.contactArray(), all = [];
    for (let i = 0; i < x.length; i += CONTACT_NUMBERS)
      all.push({ geom1: x[i], geom2: x[i + 1], mode: ["open", "stick", "slide"][x[i + 2]], gap: x[i + 3], mu: x[i + 4],
        pos: Array.from(x.subarray(i + 5, i + 8)), normal: Array.from(x.subarray(i + 8, i + 11)),
        force: Array.from(x.subarray(i + 11, i + 14)) });
    return all;
  }

  certificate() {
    return this.numbers(this.wasm.rbw_certificate(this.handle), CERTIFICATE.length);
  }

  /** @param {string} name a word of `rattleback run`, mu, e or gravity ("0 0 -9.81") */
  option(name, text) {
    if (name === "gravity") return this.gravity(text);
    const word = OPTION_WORDS[name] ?? name;
    if (word === "restitution_law") this.lawGiven = true;
    const good = this.engine.withTexts([word, text], (n, t) => this.wasm.rbw_option(this.handle, n, t));
    if (!good) throw this.engine.error();
    // as `run` does: impacts of these steppers end as Poisson says, unless another law was asked for
    if (word === "stepper" && !this.lawGiven) {
      const law = text === "impulse" || text === "hybrid" ? "poisson" : "stronge";
      this.engine.withTexts(["restitution_law", law], (n, t) => this.wasm.rbw_option(this.handle, n, t));
    }
  }

  gravity(text) {
    const g = Array.isArray(text) ? text : text.trim().split(/[\s,]+/).map(Number);
    if (g.length !== 3 || g.some((x) => !Number.isFinite(x)))
      throw new Error(`gravity ${text}: expected three numbers, for example 0 0 -9.81`);
    if (!this.wasm.rbw_gravity(this.handle, ...g)) throw this.engine.error();
  }

  /** A spring from a point of a body to a point of the world; body -1: let go. Damped critically for
   * the mass given. */
  pull(body, at = [0, 0, 0], to = [0, 0, 0], stiffness = 0, mass = 1) {
    const damping = 2 * Math.sqrt(Math.max(0, stiffness * mass));
    this.wasm.rbw_pull(this.handle, body, ...at, ...to, stiffness, damping);
  }

  reset(key = -1) {
    if (!this.wasm.rbw_reset(this.handle, key)) throw this.engine.error();
    this.status = 0;
    this.message = "";
  }

  restore(text) {
    const path = "/.state.jsonl";
    this.engine.putFile(path, text);
    const good = this.engine.withTexts([path], (at) => this.wasm.rbw_restore(this.handle, at));
    this.engine.files.content.delete(normal(path));
    if (!good) throw new Error(this.engine.error().message.replace(path, "state"));
    this.status = 0;
    this.message = "";
  }

  record(fps = 60) {
    if (!this.wasm.rbw_record(this.handle, fps)) throw this.engine.error();
  }

  free() {
    this.wasm.rbw_free(this.handle);
    this.handle = 0;
  }
}
