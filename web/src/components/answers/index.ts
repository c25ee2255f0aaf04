export { AnswerControl } from "./AnswerControl";
export { AnswerField, useFaultText } from "./AnswerField";
export { answerOf, answersOf, type Fault, faultOf, type Given, givenOf } from "./answers";
export { useAnswerWords } from "./answerWords";
