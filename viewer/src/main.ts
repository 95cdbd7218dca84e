/* Which page this is: by the data that the command put into it. */

import { bytesOf, Replay, tagText } from './data';
import { Gallery, GalleryPage } from './gallery';
import { ModelSource } from './livemodel';
import { LivePage } from './livepage';
import { ReplayPage } from './replaypage';
import { el } from './ui';

interface ModelTag {
  model: string; files: { path: string; base64: string }[]; options?: Record<string, string>; key?: string | null;
  ground?: number | null; packages?: string[]; floating_base?: number;
}

function sourceOf(tag: ModelTag): ModelSource {
  return { ...tag, options: tag.options ?? {}, files: new Map(tag.files.map((f) => [f.path, bytesOf(f.base64)])) };
}

async function start(): Promise<void> {
  const replay = tagText('rb-replay'), model = tagText('rb-model'), gallery = tagText('rb-gallery'), wasm = tagText('rb-wasm');
  if (replay !== null) { new ReplayPage(JSON.parse(replay) as Replay); return; }
  if (wasm === null) throw new Error('it holds neither a replay nor an engine. `rattleback run MODEL --html FILE` writes a replay, `rattleback view MODEL` a live view.');
  const bytes = bytesOf(wasm);
  if (gallery !== null) { await new GalleryPage(bytes, JSON.parse(gallery) as Gallery).start(); return; }
  const page = new LivePage(bytes, 'rattleback');
  if (model !== null) { await page.open([sourceOf(JSON.parse(model) as ModelTag)]); return; }
  page.complain('Drop a model here: an MJCF or URDF file, its folder, or a zip.');
  page.page.ready();
}

start().catch((error: unknown) => {
  document.documentElement.dataset.rb = 'error';
  document.body.append(el('p', { class: 'broken', role: 'alert' }, `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
});
