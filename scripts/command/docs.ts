import { readdir, readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { BuildFault } from '../build/build-fault.ts'
import { OWN_RUNTIME } from '../build/runtime.ts'
import {
  compareChapters,
  createSearchIndex,
  isChapterPath,
  readChapter,
  sectionsOf,
  type ChapterSource,
  type SourceSection,
} from '../../src/shared/handbook/index.ts'

/** The handbook of this version: beside `src` in the repository, beside `lib` in the package. */
const FOLDER = resolve(OWN_RUNTIME.folder, OWN_RUNTIME.compiled ? '../../docs' : '../docs')

const MOST_OTHERS = 5

/**
 * `millrace docs <words>`: prints the section of the handbook that answers best, and where others are. Without words it lists
 * the chapters.
 * @throws {BuildFault} if nothing is found, or the package has no handbook.
 */
export async function docs(args: readonly string[]): Promise<void> {
  const chapters = await readChapters()
  const query = args.join(' ').trim()
  if (query === '') {
    for (const { name, title } of chapters) console.log(`${placeOf(name)}  ${title}`)
    return
  }
  const [best, ...others] = createSearchIndex(chapters.flatMap(sectionsOf)).search(query, 1 + MOST_OTHERS)
  if (best === undefined)
    throw new BuildFault(`No section of the handbook matches "${query}". Try fewer or different words.`)
  console.log(`${placeOf(best.section.chapter, best.section.line)}\n\n${textOf(best.section)}`)
  if (others.length > 0) console.log(`\nSee also:\n${others.map(({ section }) => `  ${lineOf(section)}`).join('\n')}`)
}

async function readChapters(): Promise<readonly ChapterSource[]> {
  const names = await readdir(FOLDER, { recursive: true }).catch(() => [])
  const files = names.map((name) => name.replaceAll('\\', '/')).filter(isChapterPath)
  if (files.length === 0) throw new BuildFault(`This package has no handbook: ${FOLDER} has no chapters.`)
  const chapters = await Promise.all(
    files.map(async (name) => readChapter(name, await readFile(join(FOLDER, name), 'utf8'))),
  )
  return chapters.toSorted(compareChapters)
}

/** Path from the working directory, with the line for editors and terminals that open it. */
function placeOf(chapter: string, line?: number): string {
  const path = relative(process.cwd(), join(FOLDER, `${chapter}.md`))
  return line === undefined ? path : `${path}:${line}`
}

function textOf({ id, title, markdown }: SourceSection): string {
  return id === '' ? `# ${title}\n\n${markdown}` : markdown
}

function lineOf({ chapter, line, heading, title, id }: SourceSection): string {
  return `${placeOf(chapter, line)}  ${id === '' ? title : `${heading} (${title})`}`
}
