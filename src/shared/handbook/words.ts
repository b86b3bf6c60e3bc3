/** Words of English questions that say nothing about their subject. */
const STOP_WORDS = new Set(
  `a about above add after all an and any app application are as at be before below between but by can cannot contain contains could did do
  does doing don during each else existing
  every for from get getting give given gives has have having help how i if in inside into is it its just keep let like make making
  me my need no not of on one only or other our put set should show so some than that the their them then there these they this
  to under up us use used using user want was way we well what when where which while who why will with without would you your
  millrace framework best possible correctly properly work works working vs`.split(/\s+/),
)

/** Verbs of two words, which are one word for a search: "signs in", "signed in", "log in" and "sign-in". */
const SIGN = /\b(?:sign|log)(?:s|ed|ged|ing|ging)?[\s-](in|out|up)\b|\blog(in|out)\b/gi

/** The words of a text as they are written, with the spellings of "sign in" as one. */
function writtenWords(text: string): readonly string[] {
  return text.replaceAll(SIGN, (_, split = '', joined = '') => `sign${split}${joined}`).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Whether a word in lower case says nothing about a subject. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word)
}

/**
 * The words of a text in lower case. An identifier counts as a whole and by its parts: `useSearch` gives `usesearch`,
 * `use` and `search`.
 */
export function wordsOf(text: string): string[] {
  return writtenWords(text).flatMap((word) => {
    const parts = word.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)
    const whole = word.toLowerCase()
    return parts.length > 1 && parts.length < 6 ? [whole, ...parts.map((part) => part.toLowerCase())] : [whole]
  })
}

/** The words of a question that say what it is about; all words if none does. */
export function subjectOf(query: string): readonly string[] {
  const words = [...new Set(writtenWords(query).map((word) => word.toLowerCase()))]
  const subject = words.filter((word) => !isStopWord(word))
  return subject.length === 0 ? words : subject
}

const SHORTEST_STEM = 4

/**
 * The stem of a word in lower case: endings that only change its form are cut off, so that "hydrated", "hydrating" and
 * "hydration" are one word. Two words that differ in meaning may share a stem; ranking makes up for that.
 */
export function stemOf(word: string): string {
  if (word.length < SHORTEST_STEM || /\d/.test(word)) return word
  const singular = word.replace(/(?<![sui])s$/, '')
  const stem = withoutEnding(singular, /(?:ation|ating|ated|ate|ator)$/, 4) ?? withoutEnding(singular, /(?:ment)$/, 5)
  const shorter = stem ?? withoutEnding(singular, /(?:ing|ed)$/, 3) ?? singular
  return shorter
    .replace(/([bdfgmnprt])\1$/, '$1')
    .replace(/(?<=.{3})e$/, '')
    .replace(/y$/, 'i')
}

function withoutEnding(word: string, ending: RegExp, shortest: number): string | undefined {
  const stem = word.replace(ending, '')
  return stem !== word && stem.length >= shortest ? stem : undefined
}

/** Whether two words differ by one letter: added, missing, another one, or swapped with its neighbour. */
export function isOneTypoApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (long.length - short.length > 1 || short === long) return false
  let at = 0
  while (at < short.length && short[at] === long[at]) at += 1
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1)
  if (short.slice(at + 1) === long.slice(at + 1)) return true
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2)
}
