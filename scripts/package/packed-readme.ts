import { posix } from 'node:path'

const LINK = /(!?)\[[^\]]*\]\(([^)#\s]+)[^)]*\)\n*/g

/**
 * The README for readers who have installed the package: it has no pictures, and sections that speak of a clone have other text.
 * @param readme the README of the repository.
 * @param others sections that replace those with the same heading.
 * @param packed paths of the archive's files.
 * @throws {Error} if a section replaces none, or a link leads to a file that the archive does not have.
 */
export function packedReadme(readme: string, others: string, packed: ReadonlySet<string>): string {
  const replacements = new Map(sectionsOf(others).filter(([heading]) => heading !== ''))
  const sections = sectionsOf(readme).map(([heading, text]) => {
    const other = replacements.get(heading)
    replacements.delete(heading)
    return other ?? text
  })
  const unused = [...replacements.keys()]
  if (unused.length > 0) throw new Error(`README.md has no section "${unused.join('", "')}" to replace.`)
  const isPacked = (link: string): boolean => /^[a-z]+:/.test(link) || packed.has(posix.normalize(link))
  const text = sections
    .join('\n\n')
    .replaceAll(LINK, (markdown, mark: string, link: string) => (mark === '!' && !isPacked(link) ? '' : markdown))
  const dead = [...text.matchAll(LINK)].map(([, , link = '']) => link).filter((link) => !isPacked(link))
  if (dead.length > 0) {
    throw new Error(
      `README.md links to ${dead.join(', ')}, which the package does not have. Pack it, or replace the section in packed-readme.md.`,
    )
  }
  return `${text}\n`
}

/** Sections of the second level by heading, in their order; what precedes them has the heading ''. */
function sectionsOf(markdown: string): readonly (readonly [heading: string, text: string])[] {
  const parts = markdown.split(/^(?=## )/m)
  return parts.map((text) => [/^## (.*)/.exec(text)?.[1] ?? '', text.trim()] as const)
}
