import type { Section } from './section.ts'

/** Chapters whose headings are messages. */
const CHAPTERS = /^messages-/

const LEAST_LETTERS = 10 // fewer are in many messages
const LEAST_WORDS = 3 // of a question that quotes a message: fewer are a subject, or all of the message

/**
 * How much of a question is a message that an entry describes. In a heading, `…` stands for a value.
 * @returns the number of letters that fit: all of the heading, what precedes the place where a
 * question is cut off, or all of a question that quotes a part; 1 for a question
 * that the text of the entry has as it is; otherwise 0.
 */
export function quotedLength(query: string, section: Pick<Section, 'chapter' | 'heading' | 'text'>): number {
  if (!CHAPTERS.test(section.chapter)) return 0
  const asked = wordsAlone(query)
  if (asked.length < LEAST_LETTERS) return 0
  const parts = section.heading
    .split('…')
    .map(wordsAlone)
    .filter((part) => part !== ' ')
  if (asked.trim().split(' ').length < LEAST_WORDS) return parts.join('') === asked ? asked.length : 0
  const length = lengthInOrder(parts, asked)
  if (length >= LEAST_LETTERS) return length
  if (parts.some((part) => part.includes(asked))) return asked.length
  return wordsAlone(section.text).includes(asked) ? 1 : 0
}

/** Letters of the parts if a text has them all in order, or ends inside of one; otherwise 0. */
function lengthInOrder(parts: readonly string[], text: string): number {
  let at = 0
  let length = 0
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) {
      const start = text.indexOf(part.slice(0, LEAST_LETTERS), at)
      const cutOff = start < 0 ? '' : text.slice(start, -1)
      // Alone, two words are the end of many sentences: "the client", "behind a websocket".
      const isQuote = length > 0 || cutOff.trim().split(' ').length >= LEAST_WORDS
      return isQuote && cutOff !== '' && part.startsWith(cutOff) ? length + cutOff.length : 0
    }
    length += part.length
    at = found + part.length - 1 // the space after it may be the one before the next
  }
  return length
}

/** Quotes, spaces and full stops differ between a terminal, a log and a page. */
function wordsAlone(text: string): string {
  return ` ${text.toLowerCase()} `.replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
}
