/** Ten packages of the corpus; `npm test -- --soak` has all of them. */
import { CORPUS_SAMPLE } from '../support/corpus/corpus.ts'
import { testCorpus } from '../support/corpus/corpus-tests.ts'

testCorpus(CORPUS_SAMPLE)
