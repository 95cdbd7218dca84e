/* Replays, live view and playground in Chromium: what a visitor does, and what must not happen. usage: node test/pages.mjs [WORD of a test's name] */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { zipSync } from 'fflate';
import { command, fileUrl, launch, liveModel, makePage, openPage, root, viewer, waitReady, work } from './browser.mjs';
import { complaintOf, runCommand } from './command.mjs';
import { alike, colorsAt, rgbOf } from './pixels.mjs';
import { galleryOf } from '../site/gallery.mjs';

const browser = await launch();
const gallery = galleryOf(root), galleryFile = makePage('gallery.html', { gallery });
const scene = (id) => gallery.scenes.find((s) => s.id === id);
const tests = [];
const test = (name, body) => tests.push({ name, body });
const text = (path) => readFileSync(join(root, 'scenes', path), 'utf8');

/* A page whose complaints fail the test that opened it. */
async function open(url, options) {
  const opened = await openPage(browser, url, options);
  opened.close = async () => {
    assert.deepEqual(opened.complaints, []);
    assert.deepEqual(opened.requests.filter((r) => !r.startsWith('file://')), []);
    assert.equal(opened.requests.length, 1, `the page asked for ${opened.requests.join(', ')}`);
    await opened.page.close();
  };
  return opened;
}

function replayFile(model, time, name, ...more) {
  const path = join(work, name), done = spawnSync(command, ['run', resolve(root, 'scenes', model), '--time', String(time), '--html', path, ...more], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  return path;
}

test('a replay opens from a file, plays and is dragged', async () => {
  const { page, close } = await open(fileUrl(replayFile('peers/quadruped.xml', 1, 'replay.html'), '#time=0.25'));
  assert.ok(Math.abs(await page.evaluate(() => window.rattleback.time()) - 0.25) < 1e-9);
  const low = await page.evaluate(() => window.rattleback.poses[7 * 1 + 2]);
  await page.getByRole('slider', { name: 'Time' }).fill('0.9');
  assert.ok(Math.abs(await page.evaluate(() => window.rattleback.time()) - 0.9) < 1e-9);
  assert.ok(Math.abs(await page.evaluate(() => window.rattleback.poses[7 * 1 + 2]) - low) > 0.05, 'the trunk fell');
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: /^Play/ }).click();
  await page.waitForFunction(() => window.rattleback.time() > 0.1, null, { timeout: 20000 });
  await page.getByRole('button', { name: /^Pause/ }).click();
  const still = await page.evaluate(() => window.rattleback.time());
  await page.keyboard.press('.');
  assert.ok(await page.evaluate(() => window.rattleback.time()) > still, 'a frame on');
  await close();
});

test('a replay has the poses and the contacts of the run', async () => {
  const file = replayFile('peers/quadruped.xml', 1, 'replay.html'), record = join(work, 'record.jsonl');
  const done = spawnSync(command, ['run', join(root, 'scenes/peers/quadruped.xml'), '--time', '1', '--record', record, '--columns', 'contact,body'], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const rows = readFileSync(record, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  const { page, close } = await open(fileUrl(file, '#time=0'));
  const seen = await page.evaluate(() => {
    const { replay, poses } = window.rattleback, out = [];
    for (let i = 0; i < replay.n; i++) { window.rattleback.seek(replay.times[i]); out.push({ t: replay.times[i], poses: [...poses] }); }
    return out;
  });
  let worst = 0;
  for (const frame of seen) {
    const row = rows.find((r) => Math.abs(r.time - frame.t) < 1e-9);
    assert.ok(row, `a row at ${frame.t}`);
    const flat = Object.values(row.body).flat();
    frame.poses.slice(7).forEach((v, i) => { if (i % 7 < 3) worst = Math.max(worst, Math.abs(v - flat[flat.length - (frame.poses.length - 7) + i])); });
  }
  console.log(`    ${seen.length} frames, positions within ${worst.toExponential(1)} m of the record`);
  assert.ok(worst < 2e-5);
  await close();
});

test('pulling a body moves it', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=tower'));
  await page.evaluate(() => { window.rattleback.page.timeline.toggle(false); window.rattleback.restart(); });
  const at = await page.evaluate(() => {
    const { stage, sim, scene: s } = window.rattleback.models()[0], top = s.bodies.length - 1, p = [...sim.poses().subarray(7 * top, 7 * top + 3)];
    const box = stage.canvas.getBoundingClientRect(), [x, y] = stage.project(stage.controls.target.clone().fromArray(p));
    return { x: x + box.left, y: y + box.top, p, top };
  });
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 130, at.y - 40, { steps: 4 });
  await page.waitForFunction(({ p, top }) => { const q = window.rattleback.models()[0].sim.poses(); return Math.hypot(q[7 * top] - p[0], q[7 * top + 1] - p[1], q[7 * top + 2] - p[2]) > 0.05; }, at, { timeout: 30000 });
  await page.mouse.up();
  assert.equal(await page.evaluate(() => window.rattleback.models()[0].stage.controls.enabled), true);
  await close();
});

test('a broken model shows the sentence of the command', async () => {
  const broken = '<mujoco>\n  <worldbody>\n    <body>\n      <geom type="sphere" size="banana"/>\n    </body>\n  </worldbody>\n</mujoco>\n';
  const path = join(work, 'broken.xml');
  writeFileSync(path, broken);
  const told = complaintOf(path);
  assert.equal(told.code, 2);
  const { page, close } = await open(fileUrl(makePage('broken.html', { model: liveModel('broken.xml', broken) })));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.rb), 'error');
  const seen = (await page.getByRole('alert').innerText()).trim();
  assert.equal(normalise(told.text), normalise(seen));
  await close();
});

const normalise = (s) => s.replaceAll(work + '/', '').replace(/^rattleback: /, '').split('\n')[0].trim();

test('names of models are text, not markup', async () => {
  const bad = '&lt;img src=x onerror="window.hacked=1">&lt;/script>&lt;script>window.hacked=2&lt;/script>'.replaceAll('"', '&quot;').replaceAll('>', '&gt;');
  const model = `<mujoco model="${bad}"><worldbody><geom type="plane" size="0 0 1" name="${bad}"/><body name="${bad}" pos="0 0 1"><joint name="${bad}" type="slide" axis="0 0 1"/><geom type="sphere" size="0.1"/></body></worldbody>
    <actuator><motor name="${bad}" joint="${bad}"/></actuator><keyframe><key name="${bad}"/></keyframe></mujoco>`;
  const { page, close } = await open(fileUrl(makePage('names.html', { model: liveModel('<b>x</b>.xml', model) })));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.rb), 'ready');
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator('.panel img, .panel script, header b').count(), 0);
  assert.ok((await page.locator('.panel').innerText()).includes('<img src=x'), 'the name is shown as it is');
  const path = join(work, 'names.xml');
  writeFileSync(path, model);
  const out = join(work, 'names-replay.html'), done = spawnSync(command, ['run', path, '--time', '0.2', '--html', out], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const replay = await open(fileUrl(out));
  assert.equal(await replay.page.evaluate(() => window.hacked), undefined);
  assert.equal(await replay.page.locator('.panel img, .panel script').count(), 0);
  await replay.close();
  await close();
});

/* Controls that can be seen and that Tab does not come to. */
async function reachedByTab(page) {
  const count = await page.evaluate(() => {
    const shown = [...document.querySelectorAll('button, input, select, summary, a[href], canvas[tabindex]')].filter((e) => e.checkVisibility() && !e.disabled && !e.closest('dialog:not([open])'));
    shown.forEach((e) => { e.dataset.tab = 'missed'; });
    document.addEventListener('focusin', (e) => { delete e.target.dataset.tab; });
    return shown.length;
  });
  for (let i = 0; i < count + 12; i++) await page.keyboard.press('Tab');
  return await page.evaluate(() => [...document.querySelectorAll('[data-tab]')].map((e) => e.outerHTML.slice(0, 100)));
}

test('controls have names for keyboard and screen reader', async () => {
  for (const url of [fileUrl(galleryFile, '#scene=gripper'), fileUrl(replayFile('peers/quadruped.xml', 0.2, 'short.html'))]) {
    const { page, close } = await open(url);
    await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, summary, canvas[tabindex], [role=tab]')].filter((e) => {
      const label = e.labels?.[0]?.innerText ?? '';
      return !(e.getAttribute('aria-label') || label.trim() || (e.tagName !== 'INPUT' && e.tagName !== 'SELECT' && e.textContent.trim()));
    }).map((e) => e.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, []);
    await page.evaluate(() => document.activeElement.blur());
    const missed = await reachedByTab(page);
    assert.deepEqual(missed, [], 'Tab reaches every control');
    await close();
  }
});

test('keys play, step, open help and change the theme', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=cradle'));
  await page.evaluate(() => { window.rattleback.page.timeline.toggle(false); window.rattleback.restart(); });
  await page.keyboard.press('.');
  assert.equal(await page.evaluate(() => window.rattleback.models()[0].steps), 1);
  await page.keyboard.press('?');
  assert.ok(await page.getByRole('dialog').isVisible());
  await page.getByRole('button', { name: 'Close' }).click();
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press('t');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
  const eye = await page.evaluate(() => window.rattleback.page.stages[0].camera.position.toArray());
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('ArrowLeft');
  assert.notDeepEqual(await page.evaluate(() => window.rattleback.page.stages[0].camera.position.toArray()), eye);
  await close();
});

test('a jam is explained and its self-stress drawn', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=jam'));
  await page.waitForFunction(() => window.rattleback.models()[0].failed, null, { timeout: 60000 });
  const seen = await page.evaluate(() => ({ failed: window.rattleback.models()[0].failed, jam: window.rattleback.models()[0].jam, overlay: document.querySelector('.overlay').innerText }));
  const told = runCommand(scene('jam'), 2);
  assert.equal(told.code, 1);
  assert.match(told.sentences, /jammed: floor and ball; left jaw and ball; right jaw and ball hold each other/);
  assert.match(seen.failed, /jammed: floor and ball; left jaw and ball; right jaw and ball hold each other/);
  assert.match(seen.overlay, /Jammed/);
  assert.equal(seen.jam.parts.length, 3);
  const places = await page.evaluate(() => {
    const { jam, stage } = window.rattleback.models()[0], box = stage.canvas.getBoundingClientRect();
    return jam.parts.map((p) => stage.project(stage.controls.target.clone().fromArray(p.pos))).map(([x, y]) => [x + box.left, y + box.top]);
  });
  await still(page);
  const colors = await colorsAt(page, await page.screenshot(), places);
  for (const color of colors) assert.ok(alike(color, rgbOf('#e8574e')), `red where impulses hold each other, not ${color.map(Math.round)}`);
  await close();
});

test('links carry scene and parameters, side by side', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=cube&mu=0.5&compare=box'));
  const hashes = await page.evaluate(() => { const l = window.rattleback; l.page.timeline.toggle(false); l.restart(); l.run(500); return l.models().map((m) => m.sim.hash()); });
  const told = ['cone', 'box'].map((formulation) => runCommand(scene('cube'), 0.5, { mu: '0.5', formulation }).hash);
  assert.deepEqual(hashes, told);
  assert.notEqual(hashes[0], hashes[1]);
  assert.equal(await page.locator('.stage canvas').count(), 2);
  await page.getByLabel('Friction, as a number').fill('0.25');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('mu=0.25'));
  assert.match(await page.evaluate(() => location.hash), /scene=cube&mu=0.25&compare=box/);
  await close();
});

test('options, joints, controls and states act on the model', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=gripper'));
  await page.evaluate(() => { window.rattleback.page.timeline.toggle(false); window.rattleback.restart(); window.rattleback.run(300); });
  const first = await page.evaluate(() => { const { sim } = window.rattleback.models()[0]; return { hash: sim.hash(), text: sim.save(), z: sim.q[2] }; });
  await page.evaluate(() => window.rattleback.run(200));
  const later = await page.evaluate(() => window.rattleback.models()[0].sim.hash());
  assert.notEqual(later, first.hash);
  await page.evaluate((text) => { window.rattleback.models()[0].sim.restore(text); window.rattleback.run(200); }, first.text);
  assert.equal(await page.evaluate(() => window.rattleback.models()[0].sim.hash()), later, 'a restored state goes on bit for bit');
  await page.getByLabel('Friction, as a number').fill('0.05');
  await page.keyboard.press('Enter');
  await page.evaluate(() => window.rattleback.run(400));
  assert.ok(await page.evaluate(() => window.rattleback.models()[0].sim.q[2]) < 0.1, 'with little friction the block falls');
  await page.getByLabel('Formulation').selectOption('jain');
  await page.evaluate(() => window.rattleback.run(10));
  assert.equal(await page.evaluate(() => window.rattleback.models()[0].failed), '');
  await page.getByLabel('close left, as a number').fill('-12');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => window.rattleback.models()[0].sim.ctrl[1]), -12);
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  await page.getByLabel('lift, in m, as a number').fill('0.2');
  await page.keyboard.press('Enter');
  const palm = await page.evaluate(() => { const { sim, scene: s } = window.rattleback.models()[0]; return sim.poses()[7 * s.bodies.findIndex((b) => b.name === 'palm') + 2]; });
  assert.ok(Math.abs(palm - 0.4) < 1e-9, `the palm is at ${palm}`);
  await close();
});

test('a zip with a model opens', async () => {
  const { page, close } = await open(fileUrl(makePage('empty.html', {})));
  const zip = zipSync({ 'toy/ball.xml': new TextEncoder().encode(text('acceptance/bounce.xml')), 'toy/notes.txt': new TextEncoder().encode('nothing') });
  await page.evaluate(async (bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'toy.zip'));
    document.querySelector('.stages').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [...zip]);
  await page.waitForFunction(() => window.rattleback.models().length === 1, null, { timeout: 20000 });
  assert.equal(await page.locator('header h1').innerText(), 'ball.xml');
  await close();
});

test('a folder with a URDF and its mesh opens', async () => {
  const { page, close } = await open(fileUrl(makePage('empty.html', {})));
  const urdf = '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="meshes/bracket.stl"/></geometry></visual><collision><geometry><mesh filename="meshes/bracket.stl"/></geometry></collision></link></robot>';
  await page.evaluate(async ([xml, stl]) => {
    await window.rattleback.openFiles(new Map([['r/robot.urdf', new TextEncoder().encode(xml)], ['r/meshes/bracket.stl', new Uint8Array(stl)]]));
  }, [urdf, [...readFileSync(join(root, 'scenes/poses/bracket.stl'))]]);
  assert.equal(await page.evaluate(() => window.rattleback.models().length), 1, await page.locator('.overlay').innerText());
  assert.ok(await page.evaluate(() => window.rattleback.models()[0].scene.meshes.length) > 0);
  await close();
});

/* Files and folders of the disk, dropped on the picture by the browser itself. */
async function dropOn(page, paths) {
  const box = await page.locator('.stages').boundingBox(), session = await page.context().newCDPSession(page);
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }, data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) await session.send('Input.dispatchDragEvent', { type, ...at, data });
}

test('a folder of the disk is dropped: MJCF with includes and meshes in other folders', async () => {
  const { page, close } = await open(fileUrl(makePage('empty.html', {})));
  const folder = join(work, 'robot');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'robot.xml'), '<mujoco model="dropped"><compiler meshdir="assets"/><include file="floor.xml"/><asset><mesh name="m" file="bracket.stl"/></asset><worldbody><body name="part" pos="0 0 0.3"><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>');
  writeFileSync(join(folder, 'floor.xml'), '<mujoco><worldbody><geom type="plane" size="0 0 1"/></worldbody></mujoco>');
  writeFileSync(join(folder, 'assets/bracket.stl'), readFileSync(join(root, 'scenes/poses/bracket.stl')));
  await dropOn(page, [folder]);
  await page.waitForFunction(() => window.rattleback.models().length === 1, null, { timeout: 30000 });
  assert.equal(await page.locator('header h1').innerText(), 'robot.xml');
  const hash = await page.evaluate(() => { const l = window.rattleback; l.page.timeline.toggle(false); l.restart(); return l.run(100); });
  const told = spawnSync(command, ['run', join(folder, 'robot.xml'), '--time', '0.2', '--json'], { encoding: 'utf8' });
  assert.equal(hash, JSON.parse(told.stdout.trim().split('\n').pop()).hash, 'as the command runs it');
  await close();
});

/* The picture as it is when nothing moves. */
async function still(page) {
  await page.waitForFunction(() => window.rattleback.page?.stages[0].rested ?? window.rattleback.stage.rested, null, { timeout: 30000 });
  const box = await page.locator('.stage canvas').first().boundingBox();
  return await page.screenshot({ clip: box });
}

test('each box of Show changes the picture', async () => {
  const all = new Set(), live = new Set(['Events']); /* those have a test of their own */
  const near = join(work, 'near.xml'); /* a contact that is open, a tendon between two sites */
  writeFileSync(near, '<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" size="0 0 1" margin="0.1"/><site name="a" pos="0.3 0 0.6"/><body pos="0 0 0.15"><freejoint/><geom type="sphere" size="0.1" margin="0.1"/><site name="b" pos="0 0 0.1"/></body></worldbody><tendon><spatial><site site="a"/><site site="b"/></spatial></tendon></mujoco>');
  for (const [model, time] of [['robots/every_force.xml', 0.4], ['peers/quadruped.xml', 0.5], ['robots/arm.urdf', 0.2], [near, 0.1]]) {
    const { page, close } = await open(fileUrl(replayFile(model, time, 'layers.html'), `#time=${time}`), { width: 800, height: 600 });
    for (const box of await page.locator('.panel .columns input[type=checkbox]').all()) {
      const name = await box.evaluate((e) => e.labels[0].innerText.trim());
      all.add(name);
      if (live.has(name)) continue;
      const before = await still(page);
      await box.click();
      if (!before.equals(await still(page))) live.add(name);
      await box.click();
    }
    await close();
  }
  console.log(`    ${[...live].join(', ')}`);
  assert.ok(all.size >= 14, `${all.size} boxes`);
  assert.deepEqual([...all].filter((name) => !live.has(name)), []);
});

test('events of the hybrid stepper are drawn where and when they happened', async () => {
  const file = replayFile('impulse/ramp.xml', 1, 'events.html', '--key', 'start', '--stepper', 'hybrid');
  const data = JSON.parse(/id="rb-replay">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8'))[1]);
  const mark = data.marks.find((m) => m.kind === 'impact' && m.pos);
  assert.ok(mark && data.marks.some((m) => m.kind === 'shift'), 'impacts and shifts');
  const { page, close } = await open(fileUrl(file, `#time=${mark.t + 0.03}`));
  const before = await still(page);
  await page.getByLabel('Events').click();
  assert.ok(!before.equals(await still(page)), 'without its ring the picture is another one');
  await page.evaluate((t) => window.rattleback.seek(t), mark.t);
  await page.keyboard.press('n');
  assert.ok(await page.evaluate(() => window.rattleback.time()) > mark.t, 'n goes to the next mark');
  await close();
});

test('stable poses are counted live', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=poses'));
  await page.waitForFunction(() => Number(/^(\d+) drops/.exec(document.querySelector('.histogram h2')?.textContent ?? '')?.[1]) >= 2, null, { timeout: 60000 });
  assert.ok(await page.locator('.histogram .bar').count() >= 1);
  await close();
});

/* Read by three.js, which our writer has nothing to do with. Its y is up. */
test('a glTF file moves bodies as the run did', async () => {
  const glb = join(work, 'run.glb'), record = join(work, 'glb.jsonl'), model = join(root, 'scenes/peers/quadruped.xml');
  const done = spawnSync(command, ['run', model, '--time', '0.5', '--gltf', glb, '--record', record, '--columns', 'body'], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  const row = JSON.parse(readFileSync(record, 'utf8').trim().split('\n').pop()), bytes = readFileSync(glb);
  globalThis.self ??= globalThis;
  const { GLTFLoader } = await import('three/examples/jsm/loaders/GLTFLoader.js'), { AnimationMixer, LoopOnce, Vector3 } = await import('three');
  const { scene: tree, animations } = await new Promise((good, bad) => new GLTFLoader().parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '', good, bad));
  const mixer = new AnimationMixer(tree), action = mixer.clipAction(animations[0]);
  action.setLoop(LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  mixer.update(row.time);
  tree.updateMatrixWorld(true);
  let worst = 0, bodies = 0;
  for (const [name, [x, y, z]] of Object.entries(row.body)) {
    const node = tree.getObjectByName(name);
    if (!node) continue;
    worst = Math.max(worst, node.getWorldPosition(new Vector3()).distanceTo(new Vector3(x, z, -y)));
    bodies++;
  }
  console.log(`    ${bodies} bodies within ${worst.toExponential(1)} m at ${row.time} s`);
  assert.ok(bodies >= 13 && worst < 1e-4);
});

test('the page is small on a phone', async () => {
  const { page, close } = await open(fileUrl(galleryFile, '#scene=rod'), { width: 390, height: 780 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out');
  assert.equal(await page.locator('.panel').isVisible(), false);
  await page.getByRole('button', { name: /^Settings/ }).click();
  assert.ok(await page.locator('.panel').isVisible());
  await close();
});

test('a plain picture has the size that the address asks for', async () => {
  const { page, close } = await open(fileUrl(replayFile('peers/quadruped.xml', 0.2, 'short.html'), '#plain=1&size=420x280&time=0.1&camera=-40,20'));
  const box = await page.locator('.stage canvas').boundingBox();
  assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, 420, 280]);
  assert.equal(await page.locator('header').isVisible(), false);
  await close();
});

test('a film has a picture for each frame', async () => {
  const { page, close } = await open(fileUrl(replayFile('peers/quadruped.xml', 0.2, 'short.html'), '#film=20&size=320x200'));
  const lines = await page.evaluate(() => document.getElementById('rb-film').textContent.trim().split('\n'));
  assert.equal(lines.length, 5);
  assert.ok(lines.every((l) => l.startsWith('data:image/jpeg;base64,') && l.length > 2000));
  assert.ok(new Set(lines).size > 3, 'the pictures differ');
  await close();
});

test('the page can ask nobody and evaluates nothing', async () => {
  const page = readFileSync(join(viewer, 'dist/viewer.html'), 'utf8');
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)[1];
  assert.match(policy, /default-src 'none'/);
  assert.ok(!/unsafe-eval(?!')/.test(policy.replace("'wasm-unsafe-eval'", '')), policy);
  assert.ok(!/connect-src|https?:/.test(policy), policy);
  const { page: tab, close } = await open(fileUrl(galleryFile, '#scene=rod'));
  const tried = await tab.evaluate(() => new Promise((done) => { setTimeout(() => { try { done((0, window['ev' + 'al'])('1 + 1')); } catch (e) { done(e.name); } }, 0); }));
  assert.equal(tried, 'EvalError');
  const asked = await tab.evaluate(() => new Promise((done) => { setTimeout(() => { fetch('http://127.0.0.1:9/').then(() => done('answered'), (e) => done(e.name)); }, 0); }));
  assert.equal(asked, 'TypeError');
  await assert.rejects(close(), /Content Security Policy/); /* which is what it complained about */
});

const wanted = process.argv[2] ?? '';
let failed = 0;
for (const { name, body } of tests.filter((t) => t.name.includes(wanted))) {
  const begin = Date.now();
  try {
    await body();
    console.log(`ok      ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${tests.length} tests, ${failed} failed`);
process.exit(failed ? 1 : 0);
