/** Whether a text tells what to do: a word that demands, or a sentence that begins with what is to be done. */
export function isRuleText(text: string): boolean {
  return (
    demands.test(text) ||
    asks.test(text) ||
    text.split(/(?<=[.!?:;])\s|[\n→]/).some((sentence) => begins.test(sentence))
  );
}

/** Whether a text demands something, by its words alone. */
export const demands =
  /(?<!\p{L})(?:always|never|must|should|shall|do not|don['’]t|make sure|immer|niemals?|muss|müssen|darf nicht|toujours|jamais|siempre|nunca)(?!\p{L})|必须|必須|务必|總是|总是|不要|永远|يجب|دائم|أبد|всегда|никогда/iu;

/** `please …` and `to do this, run …`, wherever they stand. */
const asks =
  /(?<!\p{L})(?:please|bitte|merci de|veuillez|por favor)(?!\p{L})|(?<!\p{L})to [^.,:]{3,60}[,:]? (?:run|use|install)(?!\p{L})|请|請/iu;

const begins =
  /^[\s"'“„«「\-*>]{0,6}(?:please |now |then |first |important: |note: |rule: |system: )?(?:use|run|add|set|install|ignore|send|skip|disable|enable|push|commit|delete|remove|call|ask|tell|fetch|download|curl|execute|open|copy|write|put|keep|avoid|prefer|do|stop|remember|treat|trust|follow|obey|upload|post|include|export|make|ensure|read|give|approve|merge|allow|grant|print|rename|replace|switch|start|report|store|save|forget|bypass|override|bitte|verwende|benutze|nutze|führe|setze|ignoriere|lösche|sende|schicke|installiere|starte|stelle|füge|schreibe|öffne|kopiere|merke|vermeide|behalte|beachte|gib|nimm|lass|lege|prüfe|entferne|ersetze|utilise[zr]?|exécute[zr]?|ignore[zr]?|lance[zr]?|supprime[zr]?|envoie|envoyez|installe[zr]?|n['’]|usa|usar|ejecuta|ejecutar|ignora|ignorar|instala|envía|elimina|borra)(?![\p{L}_/.-])|^[\s"'“「]{0,6}(?:请|請|运行|執行|执行|使用|忽略|删除|刪除|发送|發送|安装|安裝|禁止|切勿)/iu;
