/* The playground: the page of the viewer with the scenes of scenes/gallery/gallery.json and the engine inside. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const MARK = '<!--rattleback:data-->';
const inTag = (text) => text.replaceAll('<', '\\u003c');

/* The model and the files that it names: <include file>, <mesh file>, <hfield file>. */
function filesOf(root, model, files) {
  if (files[model] !== undefined) return;
  const text = readFileSync(join(root, 'scenes', model), 'utf8');
  files[model] = text;
  for (const m of text.matchAll(/<include[^>]*\sfile="([^"]+)"/g)) filesOf(root, normalize(join(dirname(model), m[1])), files);
  if (/<(mesh|hfield|texture|skin)[^>]*\sfile="/.test(text)) throw new Error(`${model}: scenes of the gallery have no files but XML`);
}

export function galleryOf(root) {
  const { scenes } = JSON.parse(readFileSync(join(root, 'scenes/gallery/gallery.json'), 'utf8'));
  const files = {};
  for (const scene of scenes) filesOf(root, scene.model, files);
  return { scenes, files };
}

export function galleryPage(root, gallery = galleryOf(root)) {
  const viewer = readFileSync(join(root, 'viewer/dist/viewer.html'), 'utf8');
  const wasm = readFileSync(join(root, 'viewer/dist/rattleback.wasm')).toString('base64');
  return viewer.replace(MARK, () => `<script type="application/json" id="rb-gallery">${inTag(JSON.stringify(gallery))}</script>\n`
    + `<script type="text/plain" id="rb-wasm">${wasm}</script>`);
}
