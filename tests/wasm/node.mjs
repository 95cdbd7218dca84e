/* Runs models in rattleback.wasm: node node.mjs WASM JOBS.json > answers, one JSON line for each.
 * A job: { "model", "key", "options", "steps", "files": [paths of the model and of what it opens] },
 * "certified": N looks at the certificate of every step, as the live view does; N runs, the time of the fastest:
 * the first has the compiler of Node in it. */
import fs from "node:fs";
import path from "node:path";
import { Engine } from "../../wasm/engine.js";

const [wasm, jobs] = process.argv.slice(2);
const module = await WebAssembly.compile(fs.readFileSync(wasm));

function walk(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? walk(full) : [full];
  });
}

function certified(sim, steps, answer) {
  const at = Engine.CERTIFICATE.indexOf("residual");
  answer.steps = answer.residual = 0;
  while (answer.steps < steps && sim.step(1) === 1) {
    answer.steps++;
    answer.residual = Math.max(answer.residual, sim.certificate()[at]);
  }
}

for (const job of JSON.parse(fs.readFileSync(jobs, "utf8"))) {
  const engine = await Engine.create(module);
  const answer = { model: job.model };
  try {
    for (const file of job.folder ? walk(job.folder) : [job.model]) engine.putFile(file, fs.readFileSync(file));
    const sim = engine.load(job.model, job.options ?? {}, job.how ?? {});
    if (job.key) sim.reset(sim.scene().keys.findIndex((k) => k.name === job.key));
    answer.cpu = Infinity;
    for (let run = 0; run < (job.certified ?? 1); run++) {
      if (run > 0) sim.reset(-1);
      const begin = process.cpuUsage();
      if (job.certified) certified(sim, job.steps, answer);
      else answer.steps = sim.step(job.steps);
      const spent = process.cpuUsage(begin);
      answer.cpu = Math.min(answer.cpu, (spent.user + spent.system) * 1e-6);
    }
    answer.hash = sim.hash();
    answer.time = sim.time;
    answer.message = sim.message;
    answer.memory = engine.memoryBytes;
    if (job.scene) answer.scene = sim.sceneText();
    sim.free();
  } catch (error) {
    answer.error = error.message;
  }
  console.log(JSON.stringify(answer));
}
