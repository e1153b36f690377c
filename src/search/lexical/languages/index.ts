/** What the analysis of text knows about single languages. */
export { languageFilters } from './filters.ts'
export { languageRecipes, type LanguageRecipe } from './recipes.ts'
export { findLanguageProblem } from './snowball.ts'
export { stopWords } from './stop-words.ts'
