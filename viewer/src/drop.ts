/* Models that are dropped on the page or chosen: a file, a folder or a zip. Nothing of it leaves the page. */

import { unzipSync } from 'fflate';

export type Files = Map<string, Uint8Array>;

const TEXT = new TextDecoder();
const LARGEST = 512 << 20; /* bytes that a model may have in all */

/* Chromium reads a folder of a page that was opened from a file by its handle only, the others by its entry only. */
type Handed = DataTransferItem & { getAsFileSystemHandle?(): Promise<FileSystemHandle | null> };

export async function filesOfDrop(data: DataTransfer): Promise<Files> {
  const dropped = [...data.items].filter((item) => item.kind === 'file').map((item: Handed) => ({ /* at once: after the event they are gone */
    file: item.getAsFile(), entry: item.webkitGetAsEntry?.() ?? null, handle: item.getAsFileSystemHandle?.().catch(() => null),
  }));
  const files: Files = new Map();
  for (const { file, entry, handle } of dropped) {
    const held = await handle;
    if (held?.kind === 'directory') await walkHandle(held as FileSystemDirectoryHandle, '', files);
    else if (entry?.isDirectory) await walk(entry, '', files);
    else if (file) await addFiles([file], files);
  }
  return unpack(files);
}

async function walkHandle(folder: FileSystemDirectoryHandle, above: string, files: Files): Promise<void> {
  const path = `${above}${folder.name}/`, children = folder as unknown as { values(): AsyncIterable<FileSystemHandle> };
  for await (const child of children.values()) {
    if (child.kind === 'directory') await walkHandle(child as FileSystemDirectoryHandle, path, files);
    else files.set(path + child.name, new Uint8Array(await (await (child as FileSystemFileHandle).getFile()).arrayBuffer()));
  }
}

export async function filesOfInput(list: FileList): Promise<Files> {
  const files: Files = new Map();
  await addFiles([...list], files);
  return unpack(files);
}

async function addFiles(list: File[], files: Files): Promise<void> {
  for (const file of list) files.set(file.webkitRelativePath || file.name, new Uint8Array(await file.arrayBuffer()));
}

async function walk(entry: FileSystemEntry, folder: string, files: Files): Promise<void> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    files.set(path, new Uint8Array(await file.arrayBuffer()));
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) { /* a reader gives a hundred at a time */
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return;
    for (const child of some) await walk(child, path + '/', files);
  }
}

function unpack(files: Files): Files {
  const out: Files = new Map();
  let total = 0;
  for (const [path, bytes] of files) {
    const parts: [string, Uint8Array][] = path.toLowerCase().endsWith('.zip') ? entriesOf(bytes) : [[path, bytes]];
    for (const [name, content] of parts) {
      total += content.length;
      if (total > LARGEST) throw new Error('These files are larger than 512 MB.');
      out.set(clean(name), content);
    }
  }
  return out;
}

function entriesOf(bytes: Uint8Array): [string, Uint8Array][] {
  let sum = 0;
  const found = unzipSync(bytes, {
    filter: (file) => {
      sum += file.originalSize;
      if (sum > LARGEST) throw new Error('This zip unpacks to more than 512 MB.');
      return !file.name.endsWith('/');
    },
  });
  return Object.entries(found);
}

/* Paths inside: no root, no way out. */
function clean(path: string): string {
  return path.replaceAll('\\', '/').split('/').filter((p) => p && p !== '.' && p !== '..').join('/');
}

/* Files that may be models, the likeliest first: scenes before robots, short paths before long ones. */
export function modelsIn(files: Files): string[] {
  const rank = (path: string): number => (/(^|\/)scene[^/]*\.xml$/.test(path) ? 0 : 1) * 1000 + path.split('/').length * 10;
  const models = [...files.keys()].filter((path) => isModel(path, files.get(path)!)), parts = new Set<string>();
  for (const path of models) for (const name of included(path, files.get(path)!)) parts.add(name);
  const last = (path: string): number => (parts.has(path) ? 1e6 : 0); /* what others include is no model to begin with */
  return models.sort((a, b) => last(a) + rank(a) - last(b) - rank(b) || a.localeCompare(b));
}

/* Paths of the files that a model includes, beside it. */
function included(path: string, bytes: Uint8Array): string[] {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return [...TEXT.decode(bytes).matchAll(/<include\s[^>]*file\s*=\s*["']([^"']+)["']/g)].map((found) => clean(folder + found[1]));
}

function isModel(path: string, bytes: Uint8Array): boolean {
  if (!/\.(xml|mjcf|urdf)$/i.test(path)) return false;
  const head = TEXT.decode(bytes.subarray(0, 65536));
  return /<(mujoco|robot)[\s>]/.test(head);
}
