/** What admission keeps of a request. */
export interface AnswerPlace {
  /** Turn of the event loop in which it was last admitted; see `admission/render-turns.ts`. */
  turn: number
  /** Called with the bytes that wait for the reader of an answer that is made; see `admission/unread-answers.ts`. */
  noteUnread: ((bytes: number) => void) | undefined
}
