/** Most characters of a search: a question of a sentence, or a message that somebody has pasted. */
export const LONGEST_QUERY = 300
