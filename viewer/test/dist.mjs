/* dist/ is what the sources give, byte for byte, and the sources have no error of types. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { viewer, work } from './browser.mjs';

function run(...args) {
  const done = spawnSync(process.execPath, args, { cwd: viewer, encoding: 'utf8' });
  if (done.status !== 0) { console.error(done.stdout + done.stderr); process.exit(1); }
}

run('node_modules/typescript/bin/tsc', '--noEmit');
run('build.mjs', join(work, 'dist'));
const made = readFileSync(join(work, 'dist/viewer.html')), kept = readFileSync(join(viewer, 'dist/viewer.html'));
if (!made.equals(kept)) {
  console.error(`viewer/dist/viewer.html (${kept.length} bytes) is not what the sources give (${made.length} bytes): npm run build in viewer/`);
  process.exit(1);
}
console.log(`viewer.html: ${kept.length} bytes, the same from the sources`);
