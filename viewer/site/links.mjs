/* No dead link in the site: every href and src leads to a file of it, fragments to an id. Nothing is asked of a network.
 * usage: node site/links.mjs FOLDER */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

function* walk(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* walk(path); else yield path;
  }
}

export function checkLinks(site) {
  const pages = new Map(), findings = [];
  let count = 0, outside = 0;
  for (const path of walk(site)) if (path.endsWith('.html')) pages.set(normalize(path), readFileSync(path, 'utf8'));
  const ids = new Map();
  const idsOf = (path) => {
    if (!ids.has(path)) ids.set(path, new Set([...pages.get(path).matchAll(/\s(?:id|name)="([^"]*)"/g)].map((m) => m[1])));
    return ids.get(path);
  };
  for (const [path, text] of pages) {
    const markup = text.replace(/<script[\s\S]*?<\/script>|<style[\s\S]*?<\/style>|<!--[\s\S]*?-->/g, '');
    for (const m of markup.matchAll(/<[a-z][^>]*?\s(?:href|src)="([^"]*)"/gi)) {
      const target = m[1].replaceAll('&amp;', '&');
      if (/^(data|mailto|javascript):/.test(target) || target === '') continue;
      if (/^[a-z]+:/.test(target)) { outside++; continue; }
      count++;
      const [file, fragment] = target.split('#');
      const there = file ? normalize(join(dirname(path), decodeURIComponent(file.split('?')[0]))) : path;
      if (!existsSync(there) || statSync(there).isDirectory()) findings.push(`${relative(site, path)}: ${target} leads nowhere`);
      else if (fragment && !fragment.includes('=') && pages.has(there) && !idsOf(there).has(decodeURIComponent(fragment)))
        findings.push(`${relative(site, path)}: ${target} names no part of its page`);
    }
  }
  return { findings, count, outside, pages: pages.size };
}

if (process.argv[1]?.endsWith('links.mjs')) {
  const { findings, count, pages } = checkLinks(process.argv[2]);
  for (const f of findings.slice(0, 50)) console.error(f);
  console.log(`${count} links in ${pages} pages, ${findings.length} of them dead`);
  process.exit(findings.length ? 1 : 0);
}
