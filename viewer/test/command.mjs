/* What the command says of a scene of the gallery, to compare the page with. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { command, root } from './browser.mjs';

const WORDS = { mu: '--friction', e: '--restitution', h: '--step' };

export function runCommand(scene, time, extra = {}) {
  const args = ['run', join(root, 'scenes', scene.model), '--time', String(time), '--json'];
  if (scene.key) args.push('--key', scene.key);
  for (const [name, text] of Object.entries({ ...scene.options, ...extra })) args.push(WORDS[name] ?? `--${name}`, text);
  const done = spawnSync(command, args, { encoding: 'utf8' });
  if (done.error) throw done.error;
  return { ...JSON.parse(done.stdout.trim().split('\n').pop()), code: done.status, sentences: done.stderr };
}

export function complaintOf(path) {
  const done = spawnSync(command, ['run', path], { encoding: 'utf8' });
  return { code: done.status, text: done.stderr.trim() };
}
