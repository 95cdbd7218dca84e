/* The time line: play, speed, single steps, a slider, and marks where something happened. */

import { css, THEMES, ThemeName } from './colors';
import { Mark } from './data';
import { choice, el, iconButton, setIcon, tidy } from './ui';

export const SPEEDS = ['0.01', '0.05', '0.1', '0.25', '0.5', '1', '2', '4'];
const WORDS: Record<string, string> = {
  impact: 'impact', micro: 'micro-collision', group: 'collisions solved together', shift: 'shift between impulses and constraints',
  located: 'impact', divided: 'step divided', below: 'below accuracy', jam: 'jammed', failed: 'step refused',
};

export interface TimelineHost {
  play(on: boolean): void; seek(t: number): void; step(direction: number): void; speed(factor: number): void; restart(): void;
}

export class Timeline {
  readonly node = el('section', { class: 'timeline', 'aria-label': 'Time line' });
  readonly playButton: HTMLButtonElement;
  readonly range = el('input', { type: 'range', class: 'scrub', min: '0', max: '1', step: 'any', value: '0', 'aria-label': 'Time' });
  private readonly clock = el('output', { class: 'clock' });
  private readonly tip = el('div', { class: 'tip', role: 'status' });
  private readonly canvas = el('canvas', { class: 'marks', 'aria-hidden': 'true' });
  private readonly speedInput: HTMLSelectElement;
  private marks: Mark[] = [];
  private lo = 0;
  private hi = 1;
  private now = 0;
  playing = false;

  constructor(private theme: ThemeName, private readonly host: TimelineHost, live: boolean) {
    this.playButton = iconButton('play', 'Play (space)', () => this.toggle());
    this.playButton.classList.add('play');
    const speed = choice('Speed', SPEEDS, '1', (word) => host.speed(Number(word)));
    this.speedInput = speed.input;
    for (const option of this.speedInput.options) option.textContent += '×';
    this.range.addEventListener('input', () => host.seek(Number(this.range.value)));
    const track = el('div', { class: 'track' }, this.canvas, this.range, this.tip);
    this.node.append(
      iconButton('restart', live ? 'Start again (Home)' : 'To the start (Home)', () => host.restart()),
      iconButton('back', live ? 'A step back (,)' : 'Frame before (,)', () => host.step(-1)), this.playButton,
      iconButton('forward', live ? 'One step (.)' : 'Next frame (.)', () => host.step(1)), track, this.clock, speed.row);
    track.addEventListener('pointermove', (e) => this.hover(e.clientX));
    track.addEventListener('pointerleave', () => { this.tip.textContent = ''; });
    new ResizeObserver(() => this.draw()).observe(track);
  }

  toggle(on = !this.playing): void {
    this.playing = on;
    setIcon(this.playButton, on ? 'pause' : 'play', on ? 'Pause (space)' : 'Play (space)');
    this.host.play(on);
  }

  faster(by: number): void {
    const i = Math.min(SPEEDS.length - 1, Math.max(0, this.speedInput.selectedIndex + by));
    this.speedInput.selectedIndex = i;
    this.host.speed(Number(SPEEDS[i]));
  }

  setRange(lo: number, hi: number): void {
    if (lo === this.lo && hi === this.hi) return;
    this.lo = lo;
    this.hi = hi;
    this.range.min = String(lo);
    this.range.max = String(Math.max(hi, lo + 1e-9));
    this.draw();
  }

  setMarks(marks: Mark[]): void { this.marks = marks; this.draw(); }
  setTheme(theme: ThemeName): void { this.theme = theme; this.draw(); }

  setTime(t: number): void {
    this.now = t;
    this.range.value = String(t);
    this.range.setAttribute('aria-valuetext', `${t.toFixed(3)} seconds`);
    this.clock.textContent = `${t.toFixed(3)} / ${this.hi.toFixed(2)} s`;
  }

  /* The next mark before or after now. */
  jump(direction: number): void {
    const times = this.marks.map((m) => m.t).sort((a, b) => a - b);
    const next = direction > 0 ? times.find((t) => t > this.now + 1e-9) : times.reverse().find((t) => t < this.now - 1e-9);
    if (next !== undefined) this.host.seek(next);
  }

  private hover(x: number): void {
    const box = this.canvas.getBoundingClientRect(), t = this.lo + (this.hi - this.lo) * (x - box.left) / box.width;
    const reach = (this.hi - this.lo) * 6 / box.width;
    let best: Mark | null = null;
    for (const m of this.marks) if (Math.abs(m.t - t) < reach && (!best || Math.abs(m.t - t) < Math.abs(best.t - t))) best = m;
    this.tip.textContent = best ? `${best.t.toFixed(4)} s: ${WORDS[best.kind] ?? best.kind}${best.text ? ', ' + best.text : ''}${impulseText(best)}` : '';
    this.tip.style.left = `${Math.min(Math.max(0, x - box.left), box.width)}px`;
    this.tip.classList.toggle('left', x - box.left > box.width / 2);
  }

  private draw(): void {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, k = devicePixelRatio;
    if (!width) return;
    this.canvas.width = width * k;
    this.canvas.height = height * k;
    const c = this.canvas.getContext('2d')!;
    for (const mark of this.marks) {
      if (mark.t < this.lo || mark.t > this.hi) continue;
      c.fillStyle = css(THEMES[this.theme].mark[mark.kind] ?? 0x888888);
      c.fillRect(k * (width * (mark.t - this.lo) / (this.hi - this.lo)) - k, 0, 2 * k, height * k);
    }
  }
}

function impulseText(mark: Mark): string {
  return mark.impulse ? `, ${tidy(Math.hypot(...mark.impulse))} N s` : '';
}
