import type { RequestHandler } from 'express'
import { plainPath } from '../http/plain-path.ts'
import { contextOf } from '../request/attached-context.ts'
import { setUrl } from '../request/request-url.ts'

/**
 * For middleware that compares URLs as text. The route table matches decoded paths, so a guard for `/members` must see
 * `/members` when the request is for `/%6dembers`, for documents, data and calls alike.
 */
export const plainUrl: RequestHandler = (req, _res, next) => {
  const { pathname, search } = contextOf(req)
  setUrl(req, plainPath(pathname) + search)
  next()
}
