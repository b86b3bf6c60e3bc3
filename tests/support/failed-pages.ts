import { resolve } from 'node:path'

/** Where failed browser tests leave what their pages showed; git ignores it. */
export const FAILED_PAGES = resolve(import.meta.dirname, '../../failed-pages')
