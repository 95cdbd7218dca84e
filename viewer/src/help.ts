/* Keys, mouse and colours, on a sheet. */

import { el, textButton } from './ui';

const KEYS: [string, string][] = [
  ['space', 'play, pause'], [', .', 'a step back, a step on'], ['Home', 'to the start'], ['[ ]', 'slower, faster'],
  ['b n', 'mark before, next mark'], ['arrows', 'turn the camera'], ['+ -', 'nearer, further'], ['F', 'the whole picture'],
  ['P', 'plots'], ['S', 'settings'], ['T', 'light or dark'], ['?', 'this sheet'],
];

const MOUSE: [string, string][] = [
  ['drag', 'turn the camera (live: a body under the pointer is pulled)'], ['right drag', 'move the camera'], ['wheel', 'nearer, further'],
  ['double click', 'follow a body'], ['Shift drag', 'turn the camera, also on a body'],
];

const rows = (list: [string, string][]): HTMLElement =>
  el('dl', {}, ...list.flatMap(([a, b]) => [el('dt', {}, a), el('dd', {}, b)]));

export function helpDialog(): HTMLDialogElement {
  const dialog = el('dialog', { class: 'help', 'aria-label': 'Keys and colours' });
  const swatch = (name: string): HTMLElement => el('span', { class: `swatch ${name}` });
  dialog.append(
    el('h2', {}, 'Keys'), rows(KEYS), el('h2', {}, 'Mouse'), rows(MOUSE), el('h2', {}, 'Colours'),
    el('p', {}, swatch('stick'), 'contact that sticks ', swatch('slide'), 'contact that slides ', swatch('open'), 'open contact'),
    el('p', {}, 'Arrows are the forces on what moves; the weight of a mechanism is half as long as the scene, of n of them root n times one. ',
      'Marks on the time line: ', swatch('impact'), 'impacts ', swatch('shift'), 'shifts ', swatch('divided'), 'divided steps ', swatch('below'), 'below accuracy, jams'),
    textButton('Close', () => dialog.close()));
  return dialog;
}
