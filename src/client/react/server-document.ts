import { createContext, type ReactNode } from 'react'
import type { HtmlValue } from '../../shared/html-value.ts'

/** The document that a server is rendering. */
export interface ServerDocument {
  /** The nonce of its policy; a document that contains it is private. */
  nonce(): string
  /** Mark for an element with this HTML. @param tag its name. */
  htmlMark(value: HtmlValue, tag: string): string | undefined
  /** Called before each part of the document is sent. */
  readonly insertions: (() => ReactNode)[]
}

/** `null` in browsers. */
export const ServerDocumentContext = createContext<ServerDocument | null>(null)
