/* Colours of the page and of what it shows, for light and dark. */

import * as THREE from 'three';
import { Scene, SceneGeom } from './data';

export type ThemeName = 'light' | 'dark';

export interface Theme {
  sky: number; floor: number; line: number; hemisphere: [number, number, number]; sun: number;
  modes: [number, number, number]; cone: number; mark: Record<string, number>; fixed: number;
}

const MARKS = {
  impact: 0xff8a4c, micro: 0xd9a066, group: 0xf2c14e, shift: 0x9d7bea, located: 0xff8a4c,
  divided: 0x4ea8de, below: 0xe8574e, jam: 0xe8574e, failed: 0xe8574e,
};

export const THEMES: Record<ThemeName, Theme> = {
  dark: {
    sky: 0x14171d, floor: 0x232830, line: 0x39414d, hemisphere: [0xdfe8f5, 0x3b4048, 1.5], sun: 2.3,
    modes: [0x7f8c9b, 0x35d07f, 0xffa62b], cone: 0x35d07f, mark: MARKS, fixed: 0x6d7684,
  },
  light: {
    sky: 0xf1f4f8, floor: 0xdfe5ed, line: 0xaeb9c7, hemisphere: [0xffffff, 0xa9b2bf, 1.55], sun: 1.75,
    modes: [0x8a94a1, 0x0f9d58, 0xe07b00], cone: 0x0f9d58, mark: MARKS, fixed: 0xa3acb8,
  },
};

/* One hue for each mechanism, its links in two tones: a robot reads as one thing, a heap as many. */
const HUES = [0x4f8fd9, 0xe5794f, 0x63ad82, 0xe0b252, 0x9678c7, 0x42aaa8, 0xd0668f, 0x9aa83f];

export const isDefault = (rgba: number[]): boolean =>
  Math.abs(rgba[0] - 0.5) < 1e-6 && Math.abs(rgba[1] - 0.5) < 1e-6 && Math.abs(rgba[2] - 0.5) < 1e-6;

export interface Tree { root: number; depth: number; number: number }

/* For each body the mechanism that it belongs to; the world and what stays have number -1. */
export function treesOf(scene: Scene): Tree[] {
  const trees: Tree[] = [];
  let count = 0;
  scene.bodies.forEach((body, i) => {
    const parent = i > 0 ? trees[body.parent] : undefined;
    if (!body.moves || !parent) trees.push({ root: i, depth: 0, number: -1 });
    else if (parent.number < 0) trees.push({ root: i, depth: 0, number: count++ });
    else trees.push({ root: parent.root, depth: parent.depth + 1, number: parent.number });
  });
  return trees;
}

export function geomColor(geom: SceneGeom, tree: Tree, theme: Theme): THREE.Color {
  if (!isDefault(geom.rgba)) {
    return new THREE.Color().setRGB(geom.rgba[0], geom.rgba[1], geom.rgba[2], THREE.SRGBColorSpace);
  }
  if (tree.number < 0) return new THREE.Color(theme.fixed);
  const color = new THREE.Color(HUES[tree.number % HUES.length]);
  return tree.depth % 2 ? color.offsetHSL(0, -0.12, 0.12) : color;
}

export const css = (color: number): string => '#' + color.toString(16).padStart(6, '0');
