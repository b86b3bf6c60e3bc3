/** What only some calls need, and then at a moment when nothing can be loaded: it is loaded ahead, in one file. */
export { createPageRenewal } from './renew-page.ts'
export { createUnsentCalls } from './unsent-calls.ts'
