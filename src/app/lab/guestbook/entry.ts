/** What an entry of the guestbook is, and what fits into one. The browser and the server apply the same rules. */

/** Most characters of a name, as a person counts them. */
export const LONGEST_NAME = 40
/** Most characters of a message, as a person counts them. */
export const LONGEST_MESSAGE = 280
/** For how long an entry can be deleted by whoever has written it, in milliseconds. */
export const REMOVABLE_MS = 60_000

const MOST_UNITS_A_CHARACTER = 16 // a family emoji has 11 UTF-16 units; endless accents are not a character
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u
/** More accents on a letter than any script has (UAX #15, section 13). Normalizing takes time by the square of their number. */
const PILED_UP = /\p{M}{31}/u
const CONTROLS = /[\p{Cc}--\n]/gv

/** An entry as the page shows it. */
export interface Entry {
  readonly id: number
  readonly name: string
  readonly message: string
  /** When it was written, in ms since the epoch. */
  readonly at: number
  /** Whether the visitor who looks has written it. */
  readonly own: boolean
  /** Until when they can delete it, in ms since the epoch; absent if that is over, and for the entries of others. */
  readonly removableUntil?: number
}

/**
 * The text of a field without what is not meant: space around it, control characters, line ends of forms. Text that is far
 * too long stays as it is: to tidy it would cost more than to refuse it.
 */
export function tidyMessage(text: string): string {
  return isFarTooLong(text, LONGEST_MESSAGE) ? text : tidy(text)
}

/** As `tidyMessage`, in one line. */
export function tidyName(text: string): string {
  return isFarTooLong(text, LONGEST_NAME) ? text : tidy(text.replaceAll(/\s+/g, ' '))
}

function tidy(text: string): string {
  const plain = text.toWellFormed().replaceAll('\r\n', '\n').replaceAll(CONTROLS, '')
  return (PILED_UP.test(plain) ? plain : plain.normalize('NFC')).trim()
}

function isFarTooLong(text: string, most: number): boolean {
  return text.length > most * MOST_UNITS_A_CHARACTER
}

/** What is wrong with a tidy name, for a person; `undefined` if nothing is. */
export function nameFault(name: string): string | undefined {
  if (!VISIBLE.test(name)) return 'Please give a name.'
  return lengthFault(name, LONGEST_NAME, 'A name')
}

/** What is wrong with a tidy message, for a person; `undefined` if nothing is. */
export function messageFault(message: string): string | undefined {
  if (!VISIBLE.test(message)) return 'Please write a message.'
  return lengthFault(message, LONGEST_MESSAGE, 'A message')
}

function lengthFault(text: string, most: number, what: string): string | undefined {
  if (text.length <= most) return undefined
  if (isFarTooLong(text, most)) return `${what} has at most ${most} characters; this is far more.`
  const length = countCharacters(text)
  return length > most ? `${what} has at most ${most} characters; this one has ${length}.` : undefined
}

/** Characters as a person counts them: an emoji is one, and a letter with its accents too. */
export function countCharacters(text: string): number {
  return Array.from(new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)).length
}
