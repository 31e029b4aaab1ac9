import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

// Ways of making markup or code from a string: none of them is used, so that nothing a session holds can become either.
const FROM_STRINGS = [
  "innerHTML",
  "outerHTML",
  "insertAdjacentHTML",
  "dangerouslySetInnerHTML",
  "srcdoc",
  "createContextualFragment",
  "parseFromString",
];

// Words that a component would say in one language only: they belong into src/lang. The project's name is a word of none.
const WORDS = "/^(?!\\s*epitome\\s*$)[^]*[A-Za-z]{2}/";
const SENTENCE = "/^[A-Z]?[a-z]+( |…|$)/";
const SAID = "/^(title|aria-label|aria-valuetext|placeholder|alt|label|text|hint|note)$/";
const IN_ONE_LANGUAGE = [
  `JSXText[value=${WORDS}]`,
  `JSXElement > JSXExpressionContainer > :matches(Literal[value=${WORDS}], TemplateLiteral)`,
  `JSXElement > JSXExpressionContainer > :matches(ConditionalExpression, LogicalExpression) > Literal[value=${WORDS}]`,
  `JSXAttribute[name.name=${SAID}] > Literal[value=${SENTENCE}]`,
  `JSXAttribute[name.name=${SAID}] TemplateElement[value.raw=${WORDS}]`,
  "CallExpression[callee.name='announce'] > :matches(Literal, TemplateLiteral)",
];

export default defineConfig(
  { ignores: ["dist", "node_modules"] },
  js.configs.recommended,
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "no-restricted-syntax": [
        "error",
        ...FROM_STRINGS.flatMap((name) => [
          { selector: `MemberExpression[property.name='${name}']`, message: `${name} makes markup from a string` },
          { selector: `JSXAttribute[name.name='${name}']`, message: `${name} makes markup from a string` },
        ]),
        ...IN_ONE_LANGUAGE.map((selector) => ({ selector, message: "what the console says stands in src/lang, in every language" })),
      ],
    },
  },
  { files: ["vite.config.ts"], extends: [tseslint.configs.recommended], languageOptions: { globals: { process: "readonly" } } },
  { files: ["types.js"], languageOptions: { globals: Object.fromEntries(["URL", "console", "fetch", "process"].map((name) => [name, "readonly"])) } },
);
