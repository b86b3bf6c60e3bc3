import { createContext, type ReactNode } from 'react'

/** The document that a server is rendering. */
export interface ServerDocument {
  /** The nonce of its policy; a document that contains it is private. */
  nonce(): string
  /** Called before each part of the document is sent. */
  readonly insertions: (() => ReactNode)[]
}

/** `null` in browsers. */
export const ServerDocumentContext = createContext<ServerDocument | null>(null)
