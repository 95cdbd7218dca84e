/* Models that are dropped on the page or chosen: a file, a folder or a zip. Nothing of it leaves the page. */

import { unzipSync } from 'fflate';

export type Files = Map<string, Uint8Array>;

const TEXT = new TextDecoder();
const LARGEST = 512 << 20; /* bytes that a model may have in all */

export async function filesOfDrop(data: DataTransfer): Promise<Files> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null).filter((e) => e !== null);
  const files: Files = new Map();
  if (entries.length) for (const entry of entries) await walk(entry!, '', files);
  else await addFiles([...data.files], files);
  return unpack(files);
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
  return [...files.keys()].filter((path) => isModel(path, files.get(path)!)).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

function isModel(path: string, bytes: Uint8Array): boolean {
  if (!/\.(xml|mjcf|urdf)$/i.test(path)) return false;
  const head = TEXT.decode(bytes.subarray(0, 65536));
  return /<(mujoco|robot)[\s>]/.test(head);
}
