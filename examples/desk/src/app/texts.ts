import type { Texts, TextsPage } from 'millrace'
import german from './words-de.json' with { type: 'json' }

/** The runtime's own texts: English unless we say otherwise. */
export function texts({ pathname }: TextsPage): Partial<Texts> | undefined {
  return pathname.split('/')[1] === 'de' ? german.runtime : undefined
}
