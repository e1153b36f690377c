import { describePart } from './engine-suites.ts'

describePart('reads')
