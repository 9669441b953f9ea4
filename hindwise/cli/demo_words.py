"""What the demo says, in English and Chinese side by side. No figure stands here: each one is counted in the run."""

import os
from collections.abc import Mapping

from hindwise.cli import words

TEXTS: Mapping[str, tuple[str, str]] = {
    "title": ("Hindwise: hindsight for agents, in five acts", "Hindwise：让智能体从经历中学习，五幕演示"),
    "intro": (
        "{runs} recorded runs of an airline-support agent, {failed} of them failures. Everything goes through the public HTTP API; "
        "reflections are written by rules, without any model or key.",
        "{runs} 次航空客服智能体的真实运行，其中 {failed} 次失败。全程只用公开的 HTTP 接口；反思由规则完成，不需要模型和密钥。",
    ),
    "starting": ("Starting Temporal, worker and API in {data} …", "正在启动 Temporal、worker 和 API，数据目录 {data} …"),
    "runs_already": ("Played on what runs already: {url}", "在已经运行的系统上演示：{url}"),
    "ready": ("Ready after {seconds:.0f} s: {url}", "{seconds:.0f} 秒后就绪：{url}"),
    "nothing": ("(nothing)", "（空）"),
    # --- act 1
    "act1": ("Real runs come in, through three doors", "真实运行从三扇门进来"),
    "act1_what": (
        "All runs are of one agent: {session} go as live sessions, {episode} as whole episodes, {dify} as Dify webhooks. The first {early} "
        "come in now, the other {late} in the next act. {told} of all carry what the environment said (which calls were missing, extra or "
        "different), {bare} the reward alone. As soon as {enough} are reflected on we go on; the others are reflected on meanwhile.",
        "所有运行都属于同一个智能体：{session} 次作为实时会话，{episode} 次作为完整任务，{dify} 次作为 Dify 回调。"
        "现在先送入前 {early} 次，其余 {late} 次在下一幕。"
        "全部运行中 {told} 次附带环境的判定（哪些调用缺失、多余或参数不同），{bare} 次只有奖励值。"
        "有 {enough} 次完成反思后就继续，其余的同时进行。",
    ),
    "bar_session": ("live sessions", "实时会话"),
    "bar_episode": ("whole episodes", "完整任务"),
    "bar_dify": ("Dify webhooks", "Dify 回调"),
    "bar_reflections": ("reflections", "反思"),
    "act1_own": (
        "The recordings are in English, so one more run is fed in for you (invented, of a ticket desk). Task: {goal}. "
        "It failed, says the environment: {note}",
        "以上运行记录都是英文，所以再送入一次中文运行（虚构的票务客服）。任务：{goal}。失败，环境判定：{note}",
    ),
    "act1_first": ("The first lesson, from a run that {outcome}:", "第一条教训，来自一次{outcome}的运行："),
    "failed": ("failed", "失败"),
    "succeeded": ("succeeded", "成功"),
    "why": ("why: {text}", "原因：{text}"),
    "next_time": ("next time: {text}", "下次：{text}"),
    # --- act 2
    "act2": ("The worker is killed while it thinks", "思考途中，worker 被强行结束"),
    "act2_what": (
        "The last {late} runs come in, and while reflections run the worker gets kill -9. Temporal remembers how far each one was.",
        "最后 {late} 次运行送入，反思进行到一半时对 worker 执行 kill -9。Temporal 记得每一步做到哪里。",
    ),
    "killed": (
        "Killed worker {pid} with {open} reflections unfinished; another one goes on where it stopped.",
        "已结束 worker {pid}，当时还有 {open} 个反思未完成；另一个会从中断处接着做。",
    ),
    "act2_counted": (
        "{done} of {runs} reflections, {doubled} doubled (counted in the ledger: {episodes} episodes, {memories} memories)",
        "{runs} 个反思完成 {done} 个，重复 {doubled} 个（按账本清点：{episodes} 个任务，{memories} 条记忆）",
    ),
    # --- act 3
    "act3": ("A user changes their mind", "用户改变了主意"),
    "act3_what": (
        "Two conversations of one user. The brief before the next task follows the newer one; the older wish stays in the history.",
        "同一位用户的两次对话。下次任务前的简报以新的为准，旧的愿望留在历史里。",
    ),
    "user_says": ("The user says:", "用户说："),
    "seat_first": ("For all my flights please book a window seat from now on.", "以后都给我选靠窗的座位。"),
    "seat_reply": ("Noted: a window seat.", "好的，记下了：靠窗。"),
    "seat_second": (
        "I changed my mind: from now on please book aisle seats, my back needs it.",
        "我改主意了，以后都选靠过道的座位，我的腰不好。",
    ),
    "seat_second_reply": ("Noted: an aisle seat.", "好的，改为靠过道。"),
    "seat_query": ("Choose a seat for the flight to Lisbon", "为飞往里斯本的航班选座位"),
    "seat_old": ("window", "靠窗"),
    "seat_new": ("aisle", "过道"),
    "brief_before": ("Brief before:", "之前的简报："),
    "brief_after": ("Brief after:", "之后的简报："),
    "history": ("What the history says of the older one:", "历史里旧的那条："),
    "act3_checked": (
        "the brief tells the new wish alone; the old one is kept as {status}, with the reason",
        "简报只说新的愿望；旧的保留为“{status}”，并注明原因",
    ),
    "became": ("{status}: {reason} ({when})", "{status}：{reason}（{when}）"),
    "changed": ("changed: {old} -> {new}", "{old} → {new}"),
    "status_superseded": ("superseded", "已被取代"),
    # --- act 4
    "act4": ("A Chinese Dify run fails", "一次中文 Dify 运行失败"),
    "act4_what": (
        "The workflow reports its failure by webhook. Then the same user starts a similar task: the brief is Chinese and names the cause.",
        "工作流通过回调上报失败。随后同一用户开始类似任务：简报是中文，并点明原因。",
    ),
    "dify_goal": ("Task: {goal}. It failed: {error}", "任务：{goal}。失败：{error}"),
    "next_brief": ("Brief for the next task ({query}):", "下一个任务（{query}）的简报："),
    "act4_checked": ("the brief is Chinese and names the cause: {cause}", "简报是中文，并点明原因：{cause}"),
    # --- act 5
    "act5": ("Second attempts, by customers we have never met", "第二次尝试，来自从未见过的顾客"),
    "act5_what": (
        "{tasks} tasks are tried again. Each question comes from a new customer, whose own memory is empty; only what the agent learned "
        "can help. Beside the brief stands what the first attempt did wrong.",
        "{tasks} 个任务再来一次。每个问题来自一位新顾客，个人记忆为空；能帮上忙的只有智能体学到的东西。简报旁边是第一次做错了什么。"
        "\n这一幕的问题和简报是英文，因为当初录下的运行就是英文。",
    ),
    "bar_asked": ("briefs asked", "请求简报"),
    "customer_asks": ("The customer asks:", "顾客问："),
    "did_wrong": ("First attempt, says the environment: {verdict}", "第一次尝试，环境判定：{verdict}"),
    "did_wrong_untold": (
        "First attempt, says the environment (Hindwise was told the reward alone): {verdict}",
        "第一次尝试，环境判定（只把奖励值告诉了 Hindwise）：{verdict}",
    ),
    "brief": ("Brief:", "简报："),
    "unrelated_query": ("Which wine goes with mushroom risotto?", "蘑菇烩饭配什么酒好？"),
    "unrelated": ("An unrelated question: {query}", "一个无关的问题：{query}"),
    "act5_checked": ("its brief is empty, because: {reason}", "简报为空，原因：{reason}"),
    # --- the end
    "figures": ("Counted in this run", "本次运行的统计"),
    "row_episodes": ("episodes", "任务"),
    "row_reflections": ("reflections: completed / skipped / failed", "反思：完成 / 跳过 / 失败"),
    "row_memories": ("memories: {kind}", "记忆：{kind}"),
    "kind_lesson": ("lesson", "经验教训"),
    "kind_fact": ("fact", "事实"),
    "kind_preference": ("preference", "偏好"),
    "kind_instruction": ("instruction", "约定"),
    "kind_todo": ("todo", "未完成"),
    "kind_event": ("event", "事件"),
    "kind_snippet": ("snippet", "原文片段"),
    "row_same_task": ("same task's lesson among the first {first}", "前 {first} 条中有同一任务的教训"),
    "row_told": ("decisive call named, verdict told", "点明关键调用（附判定）"),
    "row_bare": ("decisive call named, reward alone", "点明关键调用（仅奖励）"),
    "of": ("{hits} of {asked} ({rate:.0%})", "{hits}/{asked}（{rate:.0%}）"),
    "random": ("in random order {rate:.0%}", "随机排序 {rate:.0%}"),
    "other_briefs": ("by other tasks' briefs {rate:.0%}", "其他任务的简报 {rate:.0%}"),
    "other_briefs_mean": (
        "By other tasks' briefs: how often the brief of another task names that call too. The difference is what the right brief adds.",
        "“其他任务的简报”：换成另一个任务的简报，也点明该调用的比例；两者之差才是对的简报带来的好处。",
    ),
    "row_seconds": ("seconds, start to here", "用时（秒）"),
    "kept": (
        "It goes on running. Key: {key_file}\nStop it with: kill {pid}    Its data: {data}",
        "仍在运行。密钥：{key_file}\n停止：kill {pid}    数据：{data}",
    ),
    "not_kept": (
        "The Temporal UI and the API end with the demo; `{command}` leaves them open and says where.",
        "Temporal UI 和 API 随演示一起关闭；`{command}` 会让它们保持可用并给出地址。",
    ),
    "stopping": ("Stopping …", "正在停止 …"),
    "stopped": ("Stopped; nothing is left running.", "已停止，没有留下任何进程。"),
    "left": ("Still running after the stop: {pids}", "停止后仍在运行：{pids}"),
    "broken": ("Not every promise held; the lines marked ✗ say which.", "并非所有承诺都兑现；带 ✗ 的行说明了哪些。"),
    "interrupted": ("Interrupted.", "已中断。"),
}
"""Key to (English, Chinese)."""


def language(asked: str = "") -> str:
    """en or zh: what was asked for, else DEMO_LANG, else the locale's."""
    return words.language(asked or os.environ.get("DEMO_LANG", ""))


def say(key: str, lang: str, **values: object) -> str:
    """One text in `lang`, filled in."""
    return TEXTS[key][lang == "zh"].format(**values)
