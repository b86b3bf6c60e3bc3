import { useParams } from 'millrace'
import { toLocale, type Locale } from './locales.ts'
import de from './words-de.json' with { type: 'json' }
import en from './words-en.json' with { type: 'json' }

export type Words = typeof en
export type FaultWord = keyof Words['faults']

export const WORDS: Readonly<Record<Locale, Words>> = { en, de }

export function useLocale(): Locale {
  return toLocale((useParams() as { readonly locale?: string }).locale)
}

export function useWords(): Words {
  return WORDS[useLocale()]
}

interface TitleProps {
  readonly params?: Readonly<Record<string, unknown>>
}

/** `metadata` with a title in the language of the page. */
export function titled(pick: (words: Words) => string) {
  return ({ params = {} }: TitleProps) => ({ title: pick(WORDS[toLocale(params['locale'])]) })
}
