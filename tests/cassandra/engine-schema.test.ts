import { describePart } from './engine-suites.ts'

describePart('schema')
