/* What the page does with the engine beside steps. node more.mjs WASM SCENES */
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Engine } from "../../wasm/engine.js";

const [wasm, scenes] = process.argv.slice(2);
const bytes = fs.readFileSync(wasm);

async function load(name, options, how) {
  const engine = await Engine.create(bytes);
  engine.putFile(name, fs.readFileSync(path.join(scenes, name)));
  return engine.load(name, options, how);
}

// scene, poses and contacts belong together
const sim = await load("robots/quadruped.xml");
const scene = sim.scene();
assert.equal(scene.bodies.length, sim.nbody);
sim.step(1000);
const down = sim.contacts().filter((c) => c.mode !== "open").reduce((sum, c) => sum + Math.abs(c.force[2]), 0);
const weight = 9.81 * scene.bodies.reduce((sum, b) => sum + b.mass, 0);
assert.ok(Math.abs(down - weight) < 0.02 * weight, `${down} N carry ${weight} N`);
assert.ok(sim.contacts().every((c) => c.mu > 0 && Math.abs(Math.hypot(...c.normal) - 1) < 1e-12));

// states go there and back bit for bit
const text = sim.save();
sim.step(50);
const hash = sim.hash();
sim.restore(text);
sim.step(50);
assert.equal(sim.hash(), hash);
assert.throws(() => sim.restore("{\"qpos\": [1]}"), /state/);

// a pull lifts a body, and lets it go
const body = 1, before = sim.poses()[7 * body + 2];
for (let k = 0; k < 300; k++) {
  const p = sim.poses().slice(7 * body, 7 * body + 3);
  sim.pull(body, [0, 0, 0], [p[0], p[1], before + 0.5], 4 * weight, 10);
  sim.step(1);
}
assert.ok(sim.poses()[7 * body + 2] > before + 0.05, "the pull did not move it");
sim.pull(-1);
sim.step(600);
assert.ok(sim.poses()[7 * body + 2] < before + 0.05, "it did not fall back");

// options: words and sentences of the command
assert.throws(() => sim.option("formulation", "nonsense"), /expected/);
assert.throws(() => sim.option("gravity", "1 2"), /three numbers/);
sim.option("gravity", "0 0 0");
assert.equal(sim.options().gravity, "0 0 0");
sim.option("mu", "0.25");
assert.equal(sim.options().mu, "0.25");
for (const word of sim.engine.words.solver) sim.option("solver", word);
assert.deepEqual(sim.engine.words.scheme, ["node", "semi-implicit", "moreau-jean"]);
assert.throws(() => sim.option("scheme", "midpoint"), /expected node, semi-implicit or moreau-jean; node, the default/);
for (const word of [...sim.engine.words.scheme, "node"]) sim.option("scheme", word);

// keys, writing of coordinates
sim.reset();
sim.q[2] += 0.3;
sim.update();
assert.equal(sim.contacts().length, 0);
assert.ok(Math.abs(sim.poses()[7 * body + 2] - sim.q[2]) < 1e-12);
assert.throws(() => sim.reset(99));

// events of the hybrid, once each
const ramp = await load("impulse/ramp.xml", { stepper: "hybrid" });
ramp.reset(0);
ramp.step(2000);
assert.ok(ramp.events().some((e) => e.kind === "shift"), "no shift on the ramp");
assert.equal(ramp.events().length, 0);

// a replay of what was recorded is that of the command in form
ramp.reset(0);
ramp.record(60);
ramp.step(200);
const replay = JSON.parse(ramp.replay());
assert.equal(replay.format, "rattleback replay 1");
assert.equal(replay.run.hash, ramp.hash());

// memory: many models and steps in one engine
const engine = await Engine.create(bytes);
engine.putFile("m.xml", fs.readFileSync(path.join(scenes, "robots/quadruped.xml")));
let most = 0;
for (let k = 0; k < 60; k++) {
  const one = engine.load("m.xml");
  one.step(20);
  one.contacts();
  one.info();
  one.events();
  one.free();
  if (k === 5) most = engine.memoryBytes;
}
assert.equal(engine.memoryBytes, most, "memory grew");
console.log("scene, contacts, states, pulls, options, events, replay and memory hold");
