import { posix } from 'node:path'
import { readChapter, sectionsOf } from '../../src/shared/handbook/index.ts'

const FENCE = /^[ \t]*(?:```|~~~)/
const LINK = /\[((?:`[^`]*`|[^\]`])*)\]\(([/#][^)\s]*)\)/g // code in a label may contain brackets

/**
 * The chapters for readers of the files in the package, who have no site: a link to a chapter leads to its file, and to the
 * fragment that GitHub and editors give its heading. Links to other pages of the site, such as the lab, are text.
 * @param chapters the Markdown by its path in the folder of the handbook, `reference/server.md`.
 * @returns the same paths, with texts of as many lines.
 * @throws {Error} for a link to a chapter that the package does not have.
 */
export function packedChapters(chapters: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const fragments = new Map([...chapters].map(([path, text]) => [path, fragmentsOf(path, text)]))

  const linkIn = (from: string, label: string, target: string): string => {
    const full = target.startsWith('#') ? `/docs/${from.replace(/\.md$/, '')}${target}` : target
    const [, name, fragment = ''] = /^\/docs(?:\/([\w/-]+))?(?:#(.*))?$/.exec(full) ?? []
    if (!/^\/docs(?:[/#]|$)/.test(full) || name === 'search') return label.startsWith('/') ? `\`${label}\`` : label
    const path = `${name ?? 'index'}.md`
    const known = fragments.get(path)
    if (known === undefined) throw new Error(`docs/${from} links to ${target}, which the package does not have.`)
    const file = path === from && fragment !== '' ? '' : posix.relative(posix.dirname(from), path)
    return `[${label}](${file}${fragment === '' ? '' : `#${known.get(fragment) ?? fragment}`})`
  }

  const packed = (from: string, text: string): string => {
    let isCode = false
    return text
      .split('\n')
      .map((line) => {
        if (FENCE.test(line)) isCode = !isCode
        return isCode ? line : line.replaceAll(LINK, (_, label: string, target: string) => linkIn(from, label, target))
      })
      .join('\n')
  }
  return new Map([...chapters].map(([path, text]) => [path, packed(path, text)]))
}

/** Fragments of GitHub and of editors, by those of the site. */
function fragmentsOf(path: string, text: string): ReadonlyMap<string, string> {
  const taken = new Map<string, number>()
  return new Map(
    sectionsOf(readChapter(path, text))
      .filter(({ id }) => id !== '')
      .map(({ id, heading }) => {
        const base = heading
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
          .replaceAll(' ', '-')
        const count = taken.get(base) ?? 0
        taken.set(base, count + 1)
        return [id, count === 0 ? base : `${base}-${count}`]
      }),
  )
}
