import { sectionsOf, type ChapterSource, type SourceSection } from 'millrace/internal/handbook'
import { ID_PREFIX } from './heading.ts'

/** Chapters that nobody reads to learn how an export is used. */
const ASIDE = /^(?:changing|comparison|index|performance|reference|tutorial|from-.*)$/

/** Whether a chapter is made from types. */
function isReference({ name }: ChapterSource): boolean {
  return name.startsWith('reference/')
}

/** The exports that a chapter of the reference describes. */
function exportsOf(chapter: ChapterSource): readonly SourceSection[] {
  return sectionsOf(chapter).filter(({ id, markdown }) => id !== '' && markdown.includes('```ts signature'))
}

/** Where each export is described: path and fragment by its name. */
export function exportLinks(chapters: readonly ChapterSource[]): ReadonlyMap<string, string> {
  return new Map(
    chapters
      .filter(isReference)
      .flatMap(exportsOf)
      .map(({ chapter, id, heading }) => [heading, `/docs/${chapter}#${ID_PREFIX}${id}`]),
  )
}

/** Adds to each export of the reference a link to the section of the handbook that says most about it. */
export function withExplanations(chapters: readonly ChapterSource[]): readonly ChapterSource[] {
  const guides = chapters.filter((chapter) => !isReference(chapter) && !ASIDE.test(chapter.name))
  const sections = mostAbout(guides.flatMap(sectionsOf))
  return chapters.map((chapter) => {
    if (!isReference(chapter)) return chapter
    const body = exportsOf(chapter).reduce((text, { heading: name }) => {
      const found = sections.get(name)
      if (found === undefined) return text
      const to = `/docs/${found.chapter}${found.id === '' ? '' : `#${found.id}`}`
      const trail = found.id === '' ? found.title : `${found.title}: ${found.heading}`
      return text.replace(new RegExp(`^## ${name}\n\n.+`, 'm'), (head) => `${head} Explained in [${trail}](${to}).`)
    }, chapter.body)
    return { ...chapter, body }
  })
}

/** What an occurrence says: a sample may use a name in passing, a heading is about it. */
const WEIGHTS = { sample: 1, text: 3, heading: 12 } as const
const MOST_IN_SAMPLES = 3

/** By each word of code, as it is written, the section that says most about it. */
function mostAbout(sections: readonly SourceSection[]): ReadonlyMap<string, SourceSection> {
  const best = new Map<string, { readonly section: SourceSection; readonly count: number }>()
  for (const section of sections) {
    const counts = new Map<string, number>()
    const count = (text: string, weight: number, most = Infinity): void => {
      for (const [word] of text.matchAll(/\b[A-Za-z]\w*/g)) {
        const before = counts.get(word) ?? 0
        if (before < most) counts.set(word, before + weight)
      }
    }
    const [, ...parts] = section.markdown.split(/^```/m)
    const samples = parts.filter((_, index) => index % 2 === 0)
    count(samples.join('\n'), WEIGHTS.sample, MOST_IN_SAMPLES)
    const text = section.markdown.replaceAll(/^```[\s\S]*?^```/gm, '')
    count((text.match(/`[^`\n]+`/g) ?? []).join('\n'), WEIGHTS.text)
    count(section.heading, WEIGHTS.heading)
    for (const [word, times] of counts) {
      if (times > (best.get(word)?.count ?? 0)) best.set(word, { section, count: times })
    }
  }
  return new Map([...best].map(([word, { section }]) => [word, section]))
}
