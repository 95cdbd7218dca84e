/* Controls of a live model: options of steps, joints, actuators, states. */

import { SceneJoint } from './data';
import { LiveModel } from './livemodel';
import { choice, download, el, section, Slider, slider, textButton, tidy } from './ui';

const CHOICES = ['formulation', 'solver', 'stepper', 'accuracy'];

const MOST_SLIDERS = 64;

/* Options that the address carries, in this order. */
export const CARRIED = ['mu', 'e', 'h', 'gravity', 'accuracy', 'formulation', 'solver', 'stepper'] as const;

export interface PanelHost {
  models(): LiveModel[];
  changed(): void;                       /* the picture has to be drawn again */
  set(name: string, text: string): void; /* an option of all models           */
  complain(sentence: string): void;
}

export function optionsSection(host: PanelHost): HTMLElement {
  const model = host.models()[0], now = model.sim.options(), words = model.engine.words;
  const number = (label: string, name: string, min: number, max: number, otherwise: number, unit = ''): HTMLElement => {
    const text = name === 'gravity' ? String(-Number(now.gravity.split(' ')[2])) : now[name];
    const made = slider(label, min, max, text ? Number(text) : otherwise, (v) => host.set(name, name === 'gravity' ? `0 0 ${-v}` : String(v)), unit);
    const typed = made.row.querySelector<HTMLInputElement>('.number');
    if (typed && !text) { typed.value = ''; typed.placeholder = 'model'; }
    return made.row;
  };
  return section('Simulation', true,
    number('Friction', 'mu', 0, 2, 0.5), number('Restitution', 'e', 0, 1, 0), number('Step', 'h', 1e-4, 0.02, model.scene.timestep, 's'),
    number('Gravity', 'gravity', -5, 20, 9.81, 'm/s²'),
    ...CHOICES.map((name) => choice(name[0].toUpperCase() + name.slice(1), words[name], now[name], (w) => host.set(name, w)).row),
    el('p', { class: 'note' }, 'Friction and restitution replace those of the model as soon as they are moved.'));
}

/* Sliders of joints that have one coordinate. They follow the motion; moving one moves the model. */
export function jointSection(host: PanelHost): { node: HTMLElement | null; refresh(): void } {
  const model = host.models()[0], joints = model.scene.joints.filter((j) => j.type === 'hinge' || j.type === 'slide').slice(0, MOST_SLIDERS);
  const sliders = joints.map((joint) => jointSlider(host, joint));
  if (!joints.length) return { node: null, refresh: () => undefined };
  const node = section(`Joints (${joints.length})`, joints.length <= 8, ...sliders.map((s) => s.row));
  return { node, refresh: () => { if (node.open) joints.forEach((j, i) => sliders[i].set(model.sim.q[j.qadr] + j.ref)); } };
}

function jointSlider(host: PanelHost, joint: SceneJoint): Slider {
  const reach = joint.type === 'hinge' ? Math.PI : 2 * (host.models()[0].scene.extent || 1);
  const [lo, hi] = joint.limited ? joint.range : [joint.ref - reach, joint.ref + reach];
  const q = host.models()[0].sim.q[joint.qadr] + joint.ref;
  return slider(joint.name || `joint ${joint.qadr}`, lo, hi, q, (v) => {
    for (const m of host.models()) {
      m.sim.q[joint.qadr] = v - joint.ref;
      m.sim.v[joint.dofadr] = 0;
      m.sim.update();
      m.readContacts();
    }
    host.changed();
  }, joint.type === 'hinge' ? 'rad' : 'm');
}

export function controlSection(host: PanelHost): { node: HTMLElement | null; refresh(): void } {
  const model = host.models()[0], actuators = model.scene.actuators.slice(0, MOST_SLIDERS);
  if (!actuators.length) return { node: null, refresh: () => undefined };
  const sliders = actuators.map((a) => slider(a.name || `control ${a.control}`, a.limited ? a.range[0] : -1, a.limited ? a.range[1] : 1,
    model.sim.ctrl[a.control], (v) => { for (const m of host.models()) m.sim.ctrl[a.control] = v; }));
  const node = section(`Controls (${actuators.length})`, actuators.length <= 8, ...sliders.map((s) => s.row));
  return { node, refresh: () => { if (node.open) actuators.forEach((a, i) => sliders[i].set(model.sim.ctrl[a.control])); } };
}

/* States as files of the command (`run --save`, `run --state`), and one that is kept in the page. */
export function stateSection(host: PanelHost, restored: () => void): HTMLElement {
  let kept: string[] | null = null;
  const file = el('input', { type: 'file', accept: '.json,application/json', hidden: '', 'aria-label': 'State file' });
  const restore = (texts: string[]): void => {
    try {
      host.models().forEach((m, i) => { m.sim.restore(texts[Math.min(i, texts.length - 1)]); m.clearFailure(); m.readContacts(); });
      restored();
    } catch (error) { host.complain((error as Error).message); }
  };
  file.addEventListener('change', async () => { if (file.files?.[0]) restore([await file.files[0].text()]); file.value = ''; });
  const back = textButton('Back to it', () => { if (kept) restore(kept); });
  back.disabled = true;
  const hash = el('output', { class: 'note' });
  return section('State', false,
    el('div', { class: 'row' }, textButton('Keep this state', () => {
      kept = host.models().map((m) => m.sim.save());
      back.disabled = false;
      hash.textContent = `kept at ${tidy(host.models()[0].sim.time)} s, hash ${host.models()[0].sim.hash()}`;
    }), back),
    el('div', { class: 'row' }, textButton('Save as a file', () => download('state.json', host.models()[0].sim.save(), 'application/json')),
      textButton('Load a file', () => file.click()), file), hash);
}
