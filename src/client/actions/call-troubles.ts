/** Code for rare situations in which nothing can be loaded: loaded in advance, in one file. */
export { createPageRenewal } from './renew-page.ts'
export { createUnsentCalls } from './unsent-calls.ts'
