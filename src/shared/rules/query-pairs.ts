import { decodeSegment } from '../route-segment.ts'
import { escapeUrlText } from '../url-text.ts'

/** One pair of a query. */
export interface QueryPair {
  /** Decoded. */
  readonly key: string
  /** Decoded; empty for a key alone. */
  readonly value: string
  /** As in a URL; a visitor's pairs keep their spelling. */
  readonly raw: string
}

/** @param search as in a URL, with or without its `?`. */
export function parseQuery(search: string): readonly QueryPair[] {
  const pairs: QueryPair[] = []
  for (const raw of search.replace(/^\?/, '').split('&')) {
    if (raw === '') continue
    const equals = raw.indexOf('=')
    const key = equals === -1 ? raw : raw.slice(0, equals)
    const value = equals === -1 ? '' : raw.slice(equals + 1)
    pairs.push({ key: decodeComponent(key), value: decodeComponent(value), raw: escapeUrlText(raw) })
  }
  return pairs
}

/** Encodes a pair so that it cannot begin another one. */
export function queryPair(key: string, value: string): QueryPair {
  return { key, value, raw: `${encodeComponent(key)}=${encodeComponent(value)}` }
}

/** @returns `''`, or the pairs after a `?`; always ASCII. */
export function formatQuery(pairs: readonly QueryPair[]): string {
  return pairs.length === 0 ? '' : `?${pairs.map(({ raw }) => raw).join('&')}`
}

function decodeComponent(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  return decodeSegment(spaced) ?? spaced
}

function encodeComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
