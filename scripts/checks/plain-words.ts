/**
 * Phrases that no plain English text has. The list is short on purpose: each is wrong wherever it stands, so nobody argues with
 * the check. Pure: takes the sources, returns the faults.
 */
import type { SourceFile } from './house-rules.ts'

/** A phrase, and what to write in its place. */
interface Phrase {
  readonly pattern: RegExp
  readonly instead: string
  /** Only in Markdown: comments have fragments that begin like this. */
  readonly proseOnly?: true
}

const PHRASES: readonly Phrase[] = [
  { pattern: /\bunless told\b/i, instead: 'default: …' },
  { pattern: /\bunder way\b/i, instead: 'in progress' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bin earnest\b/i, instead: 'what is really meant' },
  { pattern: /\bto be had\b/i, instead: 'available' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix' },
  { pattern: /\ball else\b/i, instead: 'everything else' },
  { pattern: /\bonce more\b/i, instead: 'again' },
  { pattern: /\bfor good\b(?! reason)/i, instead: 'permanently' },
  { pattern: /\b(?:is|are|was|were|be|been) told\b/i, instead: 'what is sent or reported, and to whom' },
  { pattern: /\btells? of\b/i, instead: 'reports …' },
  { pattern: /\bhears? of\b/i, instead: 'is called for …, or learns of …' },
  { pattern: /\bwhat (?:is|are) no\b/i, instead: 'anything but …, or what is not a …' },
  { pattern: /(?:`undefined`|\babsent|\bempty|\bnone) where\b/i, instead: 'if' },
  { pattern: /\b(?:is|are|be|was|were) another one\b/i, instead: 'differs, or a different one' },
  { pattern: /\bwhere there (?:is|are)\b/i, instead: 'if there is …' },
  { pattern: /\bstands? (?:around|back|between|in|on|outside|over|there|until|where)\b/i, instead: 'is …' },
  { pattern: /(?<!\band )\balso (?:if|when|while)\b/i, instead: 'even if …' },
  { pattern: /\breplac(?:e|es|ing) [^.|;:]{1,60}?(?<!\bone) by\b(?! \w+ing\b)/i, instead: 'replace … with …' },
  { pattern: /\b(?:another \w+|(?:any|some)thing else) than\b/i, instead: 'a … other than, or a different …' },
  { pattern: /\bby (?:a click|Back)\b/, instead: 'after a click, or after Back' },
  { pattern: /\bgo(?:es)? by (?:a |the )?(?:headers?|keys?|rules?)\b/i, instead: 'uses …' },
  { pattern: /\bhand(?:s|ed)? (?:it |them )?(?:on|over)\b/i, instead: 'passes …' },
  {
    pattern: /(?:^|[.;:](?:\*\*)? |^[-*] |\| )(?:Who|Whoever|Whatever) (?![^.|]*\?)[a-z]/,
    instead: 'a person or a thing as the subject: "All waiting callers get …"',
    proseOnly: true,
  },
  {
    pattern:
      /(?<!\b(?:there|where|that) )\b(?:is|are) no (?:address|action|application|command|folder|image|JSON|list|number|origin|page|path|URL)\b/i,
    instead: 'is not a …',
    proseOnly: true,
  },
  {
    pattern: /(?:\}|['"]) is no [a-z]|['"`](?:is|are) no (?:address|list|number|path|URL)\b/i,
    instead: 'is not a …',
  },
]

/** Chapters, and files whose comments and messages people read. Tests quote what others write. */
const READ = /^(?:docs\/[^/]+\.md|[A-Z]+\.md|(?:src|scripts|bin|templates)\/.+\.(?:tsx?|js|md))$/

/** The rules themselves quote what they refuse. */
const OWN = 'scripts/checks/plain-words.ts'

/**
 * Finds phrases of the list in chapters, comments and messages.
 * @returns one line per fault: file, line, phrase and what to write.
 */
export function wordFaults(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => READ.test(path) && path !== OWN)
    .flatMap(({ path, text }) => {
      const phrases = PHRASES.filter(({ proseOnly }) => proseOnly !== true || path.endsWith('.md'))
      return text.split('\n').flatMap((line, index) =>
        phrases.flatMap(({ pattern, instead }) => {
          const [found] = pattern.exec(line) ?? []
          return found === undefined ? [] : [`${path}:${index + 1}: "${found.trim()}"; write ${instead}`]
        }),
      )
    })
}
