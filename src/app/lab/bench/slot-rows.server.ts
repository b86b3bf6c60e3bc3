export { loader, search } from './kept-rows.server.ts'
export { visitor } from './slot.server.ts'
