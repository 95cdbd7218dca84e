/* Small pieces of the page. Text goes in as text, never as markup, whatever a model calls its parts. */

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {},
                                                        ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

const ICONS: Record<string, string> = {
  play: 'M7 4.5v15l12-7.5z', pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
  back: 'M17 5v14l-9-7zM6 5h2v14H6z', forward: 'M7 5v14l9-7zM16 5h2v14h-2z',
  start: 'M6 5h2.4v14H6zM19 5v14l-9.5-7z', restart: 'M12 5V1.8L7 6l5 4.2V7a5.5 5.5 0 1 1-5.5 5.5h-2A7.5 7.5 0 1 0 12 5z',
  sun: 'M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM11 1h2v4h-2zM11 19h2v4h-2zM1 11h4v2H1zM19 11h4v2h-4zM4 5.4 5.4 4l2.8 2.8-1.4 1.4zM15.8 17.2l1.4-1.4L20 18.6 18.6 20zM4 18.6l2.8-2.8 1.4 1.4L5.4 20zM15.8 6.8 18.6 4 20 5.4l-2.8 2.8z',
  help: 'M11 17h2v2h-2zM12 3a6 6 0 0 0-6 6h2.2A3.8 3.8 0 1 1 12 12.8c-.7 0-1.1.5-1.1 1.2v1.6h2.2v-.9A6 6 0 0 0 12 3z',
  panel: 'M3 5h18v2H3zM3 11h18v2H3zM3 17h18v2H3z', fit: 'M4 9V4h5v2H6v3zM15 4h5v5h-2V6h-3zM6 15v3h3v2H4v-5zM18 15h2v5h-5v-2h3z',
  chart: 'M4 19h16v2H3V4h2v12l4.5-5 3.5 3 5-7 1.6 1.2-6.2 8.6-3.7-3.1z',
  grid: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
};

export function icon(name: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name] ?? '');
  svg.append(path);
  return svg;
}

export function setIcon(button: HTMLElement, name: string, label: string): void {
  button.replaceChildren(icon(name));
  button.setAttribute('aria-label', label);
  button.title = label;
}

export function iconButton(name: string, label: string, on: () => void): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'icon' });
  setIcon(button, name, label);
  button.addEventListener('click', on);
  return button;
}

export function textButton(label: string, on: () => void, title = ''): HTMLButtonElement {
  const button = el('button', { type: 'button', class: 'text' }, label);
  if (title) button.title = title;
  button.addEventListener('click', on);
  return button;
}

export function toggle(label: string, value: boolean, on: (value: boolean) => void, swatch?: string): HTMLLabelElement {
  const box = el('input', { type: 'checkbox' });
  box.checked = value;
  box.addEventListener('change', () => on(box.checked));
  const color = swatch ? el('span', { class: 'swatch', style: `background:${swatch}` }) : null;
  return el('label', { class: 'toggle' }, box, el('span', {}, label), color);
}

export interface Slider { row: HTMLElement; input: HTMLInputElement; set(value: number): void }

/* A range with its number beside it; the number can be typed. */
export function slider(label: string, min: number, max: number, value: number, on: (value: number) => void,
                       unit = ''): Slider {
  const step = (max - min) / 1000;
  const range = el('input', { type: 'range', min: String(min), max: String(max), step: String(step || 'any'), 'aria-label': label });
  const text = el('input', { type: 'text', inputmode: 'decimal', class: 'number', 'aria-label': `${label}${unit ? `, in ${unit}` : ''}, as a number` });
  const set = (v: number): void => {
    if (document.activeElement !== text) text.value = tidy(v);
    if (document.activeElement !== range) range.value = String(v);
  };
  range.addEventListener('input', () => { text.value = tidy(Number(range.value)); on(Number(range.value)); });
  text.addEventListener('change', () => {
    const v = Number(text.value);
    if (Number.isFinite(v)) { range.value = String(v); on(v); }
  });
  set(value);
  const name = el('span', { class: 'name', title: label }, label);
  return { row: el('div', { class: 'slider' }, name, text, unit ? el('span', { class: 'unit' }, unit) : null, range), input: range, set };
}

export function choice(label: string, words: readonly string[], value: string, on: (word: string) => void): { row: HTMLElement; input: HTMLSelectElement } {
  const input = el('select', {});
  for (const word of words) input.append(el('option', { value: word }, word));
  input.value = value;
  input.addEventListener('change', () => on(input.value));
  return { row: el('label', { class: 'choice' }, el('span', { class: 'name' }, label), input), input };
}

export function section(title: string, open: boolean, ...children: Child[]): HTMLDetailsElement {
  const details = el('details', {}, el('summary', {}, title), el('div', { class: 'body' }, ...children));
  details.open = open;
  return details;
}

/* Numbers that people read: four digits, powers of ten where they are needed. */
export function tidy(x: number): string {
  if (!Number.isFinite(x)) return String(x);
  const a = Math.abs(x);
  if (a === 0) return '0';
  if (a < 1e-3 || a >= 1e5) return x.toExponential(1).replace('e+', 'e');
  return String(Number(x.toPrecision(4)));
}

export function download(name: string, data: string | Uint8Array, type: string): void {
  const link = el('a', { download: name });
  link.href = URL.createObjectURL(new Blob([data as BlobPart], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
