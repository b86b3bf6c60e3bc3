import type { CorpusEntry } from './corpus-entry.ts'
import { OF_MARKUP } from './of-markup.ts'
import { OF_PAGES } from './of-pages.ts'
import { OF_SERVERS } from './of-servers.ts'
import { OF_TEXT } from './of-text.ts'

/** Packages that products really use. */
export const CORPUS: readonly CorpusEntry[] = [...OF_TEXT, ...OF_MARKUP, ...OF_SERVERS, ...OF_PAGES]

const SAMPLE = new Set([
  'lodash',
  'dayjs',
  'papaparse',
  'qs',
  'isomorphic-dompurify',
  'pdfkit',
  'bcrypt',
  'zustand',
  'swiper',
  'lucide-react',
])

/** One of each kind: CommonJS and ES modules, deep paths, an add-on, own files, styles, React. */
export const CORPUS_SAMPLE: readonly CorpusEntry[] = CORPUS.filter(({ name }) => SAMPLE.has(name))
