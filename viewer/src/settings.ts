/* The part of the address behind #, as names and values: scene, parameters, time, camera. */

import { ThemeName } from './colors';

export class Address {
  readonly values: Map<string, string>;

  constructor(hash = location.hash) {
    this.values = new Map();
    for (const part of hash.replace(/^#/, '').split('&')) {
      const cut = part.indexOf('=');
      if (cut > 0) this.values.set(decode(part.slice(0, cut)), decode(part.slice(cut + 1)));
    }
  }

  text(name: string): string | undefined { return this.values.get(name); }

  number(name: string): number | undefined {
    const v = Number(this.values.get(name) ?? NaN);
    return Number.isFinite(v) ? v : undefined;
  }

  flag(name: string): boolean { const v = this.values.get(name); return v !== undefined && v !== '0' && v !== ''; }

  camera(): number[] | undefined {
    const parts = (this.values.get('camera') ?? '').split(',').map(Number);
    return parts.length >= 2 && parts.every(Number.isFinite) ? parts : undefined;
  }
}

export function addressOf(values: Record<string, string | undefined>): string {
  const parts = Object.entries(values).filter(([, v]) => v !== undefined && v !== '');
  return '#' + parts.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v!)}`).join('&');
}

function decode(text: string): string {
  try { return decodeURIComponent(text); } catch { return text; }
}

/* What the visitor chose, else what the system asks for. A page from a file may have no storage. */
export function chosenTheme(address: Address): ThemeName {
  const asked = address.text('theme');
  if (asked === 'light' || asked === 'dark') return asked;
  try {
    const kept = localStorage.getItem('rattleback-theme');
    if (kept === 'light' || kept === 'dark') return kept;
  } catch { /* no storage */ }
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

export function keepTheme(theme: ThemeName): void {
  try { localStorage.setItem('rattleback-theme', theme); } catch { /* no storage */ }
}
