import { LAB_GROUPS } from '../lab/catalogue.ts'

/** Chapters of the handbook that a mistyped address may mean. The page for such an address has no data of a loader. */
const CHAPTERS = [
  'accounts',
  'actions',
  'caching',
  'commands',
  'comparison',
  'configuration',
  'deployment',
  'embedding',
  'export',
  'fallbacks-and-errors',
  'getting-started',
  'how-to',
  'image-sizes',
  'libraries',
  'loaders',
  'metadata',
  'navigation',
  'observability',
  'performance',
  'postgres',
  'reports',
  'routes',
  'rules',
  'runbook',
  'security',
  'sessions',
  'styles-and-assets',
  'testing',
  'upgrading',
]

/** Paths of pages of this site that a visitor may have meant. */
export const ADDRESSES: readonly string[] = [
  ...CHAPTERS.map((chapter) => `/docs/${chapter}`),
  ...LAB_GROUPS.filter(({ id }) => id !== 'resources').flatMap(({ entries }) =>
    entries.map(({ href }) => href.replace(/\?.*$/, '')),
  ),
]
