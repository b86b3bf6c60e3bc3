/** Most characters of a search: a question of a sentence. */
export const LONGEST_QUERY = 100
