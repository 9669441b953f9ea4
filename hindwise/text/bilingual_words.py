"""Words that mean the same in English and Chinese, as people say them of themselves, their wishes and their work. Own work.

One entry per concept: `english, synonym = 中文 同义词`, entries apart by `|`. Only true synonyms share an entry: two words of one entry
meet in one slot, and the newer closes the older. So 哥哥 and 弟弟 have none, since "brother" is either.
"""

_TASTES = """
like, love, enjoy, prefer, fond = 喜欢 更喜欢 爱 偏好 偏爱 喜爱 热爱 | favourite, favorite = 最喜欢 最爱 | want = 想要 希望 想 |
need = 需要 | interested = 感兴趣 | accustomed = 习惯 | comfortable = 舒服 舒适 | afraid = 害怕 怕 | tired = 累 | quiet = 安静 |
loud, noisy = 吵 吵闹 | warm = 暖和 温暖 | cold = 冷 | hot = 热 | spicy = 辣 辣的 | sweet = 甜 | salty = 咸 | sour = 酸 |
bitter = 苦 | bright = 明亮 | dark = 黑 深色 | light = 浅色 清淡 | big, large = 大 | small, little = 小 | tall, high = 高 | low = 低 |
new = 新 | old = 旧 老 | cheap = 便宜 | expensive = 贵 | fast, quick = 快 | slow = 慢 | early = 早 | late = 晚 | long = 长 |
short = 短 简短 | simple = 简单 | detailed = 详细 | concise, brief = 简洁 精简 | formal = 正式 | informal, casual = 随意 |
friendly = 亲切 友好 | polite = 礼貌 客气 | direct, nonstop = 直飞 直达 | free = 免费 | good = 好 | bad = 坏 差 | important = 重要 |
urgent = 紧急 | private = 私人 | public = 公开 | fresh = 新鲜 | raw = 生 | healthy = 健康 | strong = 浓 强 | weak = 弱
"""

_FOOD = """
food = 食物 食品 菜 | drink = 喝 饮料 | eat = 吃 | cook = 做饭 烹饪 | tea = 茶 | green tea = 绿茶 | black tea = 红茶 |
milk tea = 奶茶 | coffee = 咖啡 | milk = 牛奶 | soy milk = 豆浆 | oat milk = 燕麦奶 | lactose = 乳糖 | water = 水 |
sparkling water = 气泡水 苏打水 | juice = 果汁 | orange juice = 橙汁 | beer = 啤酒 | wine = 葡萄酒 | red wine = 红酒 红葡萄酒 |
white wine = 白葡萄酒 | alcohol = 酒 酒精 | cola, coke = 可乐 | meat = 肉 肉类 | beef = 牛肉 | pork = 猪肉 | lamb, mutton = 羊肉 |
chicken = 鸡肉 | fish = 鱼 | seafood = 海鲜 | shrimp, prawn = 虾 | crab = 螃蟹 | shellfish = 贝类 | egg = 鸡蛋 蛋 | rice = 米饭 大米 |
noodle = 面条 面 | bread = 面包 | wheat = 小麦 | gluten = 麸质 | tofu = 豆腐 | soy = 大豆 | cheese = 奶酪 芝士 | butter = 黄油 |
sugar = 糖 | salt = 盐 | chocolate = 巧克力 | dark chocolate = 黑巧克力 | milk chocolate = 牛奶巧克力 | white chocolate = 白巧克力 |
cake = 蛋糕 | ice cream = 冰淇淋 | dessert = 甜点 甜品 | fruit = 水果 | apple = 苹果 | banana = 香蕉 | orange = 橙子 | grape = 葡萄 |
strawberry = 草莓 | watermelon = 西瓜 | mango = 芒果 | pineapple = 菠萝 | peach = 桃子 | lemon = 柠檬 | vegetable = 蔬菜 |
tomato = 西红柿 番茄 | potato = 土豆 马铃薯 | carrot = 胡萝卜 | onion = 洋葱 | garlic = 大蒜 蒜 | ginger = 姜 |
cilantro, coriander = 香菜 | mushroom = 蘑菇 | eggplant, aubergine = 茄子 | cucumber = 黄瓜 | spinach = 菠菜 | peanut = 花生 |
nut = 坚果 | almond = 杏仁 | sesame = 芝麻 | honey = 蜂蜜 | soup = 汤 | salad = 沙拉 | pizza = 比萨 披萨 | hot pot, hotpot = 火锅 |
hot dog = 热狗 | barbecue = 烧烤 | sushi = 寿司 | dumpling = 饺子 | breakfast = 早饭 早餐 | lunch = 午饭 午餐 |
dinner, supper = 晚饭 晚餐 | snack = 零食 | vegetarian = 吃素 素食 素食者 | vegan = 纯素 纯素食 | halal = 清真 |
restaurant = 餐厅 餐馆 饭馆
"""

_LIFE = """
live, reside = 住 居住 定居 | move = 搬 搬家 | residence, home = 家 住处 | work = 上班 工作 | job, occupation, profession = 职业 |
study, learn = 学习 学 | teach = 教 | retired = 退休 | married = 结婚 已婚 | single = 单身 | pregnant = 怀孕 |
child, kid, children = 孩子 小孩 | son = 儿子 | daughter = 女儿 | mother, mum, mom = 妈妈 母亲 | father, dad = 爸爸 父亲 |
wife = 妻子 太太 老婆 | husband = 丈夫 先生 老公 | parent = 父母 | friend = 朋友 | family = 家人 家庭 | boss = 老板 | manager = 经理 |
colleague, coworker = 同事 | customer, client = 客户 顾客 | neighbour, neighbor = 邻居 | roommate, flatmate = 室友 | team = 团队 |
company, firm = 公司 | office = 办公室 | school = 学校 | university = 大学 | hospital = 医院 | shop, store = 店 商店 | doctor = 医生 |
nurse = 护士 | dentist = 牙医 | teacher = 老师 教师 | student = 学生 | lawyer = 律师 | accountant = 会计 | engineer = 工程师 |
software engineer = 软件工程师 | developer, programmer = 程序员 开发者 | designer = 设计师 | writer = 作家 | scientist = 科学家 |
analyst = 分析师 | architect = 建筑师 | consultant = 顾问 | dog = 狗 | cat = 猫 | bird = 鸟 | car = 车 汽车 | bike, bicycle = 自行车 |
bus = 公交 公交车 | subway, metro = 地铁 | train = 火车 | taxi = 出租车 | plane = 飞机 | fly = 坐飞机 飞 | drive = 开车 |
walk = 走路 步行 | allergy, allergic = 过敏 | diabetes, diabetic = 糖尿病 | asthma = 哮喘 | penicillin = 青霉素 | pollen = 花粉 |
dust = 灰尘 | left-handed = 左撇子 | colour-blind, color-blind = 色盲 | name = 名字 叫 姓名 | birthday = 生日 | age = 年龄 |
hometown, home town = 老家 家乡 | address = 地址 | phone number, telephone number = 手机号 电话号码 | salary = 工资 薪水 |
rent = 房租 租金 | budget = 预算 | passport = 护照 | visa = 签证 | id card = 身份证 | driving licence, driving license = 驾照 |
insurance = 保险 | blood type = 血型 | native language, mother tongue = 母语 | language = 语言 | time zone = 时区 | country = 国家 |
city = 城市 | colour, color = 颜色 | sport = 运动 | basketball = 篮球 | football, soccer = 足球 | tennis = 网球 | badminton = 羽毛球 |
swim, swimming = 游泳 | run, running = 跑步 | hike, hiking = 徒步 远足 | yoga = 瑜伽 | fitness = 健身 | music = 音乐 |
jazz = 爵士乐 爵士 | classical music = 古典音乐 | rock = 摇滚 | film, movie = 电影 | novel = 小说 | game = 游戏 | travel = 旅行 旅游 |
photography = 摄影 | paint, painting = 画画 绘画 | read, reading = 阅读 读书 | piano = 钢琴 | guitar = 吉他 |
smoke, smoking = 抽烟 吸烟 | sleep = 睡觉 | shower = 淋浴 | hobby = 爱好 | doctor's appointment = 看病 | medicine = 药
"""

_WORK = """
answer, reply, respond, response = 回答 回复 答复 | explain, explanation = 解释 | summary, summarize, summarise = 总结 摘要 |
report = 报告 报表 | e-mail, email = 邮件 电子邮件 邮箱 | message = 消息 信息 | text message, sms = 短信 |
phone, telephone, call = 电话 打电话 | letter = 信 | document, documentation = 文档 | file = 文件 | folder, directory = 文件夹 目录 |
table = 表格 | list = 列表 清单 | chart, diagram = 图表 | slide = 幻灯片 | invoice = 发票 | contract = 合同 | quote = 报价 报价单 |
order = 订单 | password = 密码 | account = 账号 账户 | code = 代码 | comment = 注释 | test = 测试 | commit = 提交 | branch = 分支 |
deploy = 部署 | database = 数据库 | server = 服务器 | backup = 备份 | log = 日志 | meeting = 会议 开会 | appointment = 预约 |
calendar = 日历 | deadline = 截止日期 | project = 项目 | tone = 语气 | font = 字体 | unit = 单位 | metric = 公制 | imperial = 英制 |
celsius = 摄氏 摄氏度 | fahrenheit = 华氏 华氏度 | kilometre, kilometer, km = 公里 千米 | mile = 英里 | price = 价格 | tax, vat = 税 |
discount = 折扣 | currency = 币种 货币 | emoji = 表情 表情符号 表情包 | bullet point = 要点 | step by step = 分步 一步一步 |
tab = 制表符 | space = 空格 | indentation = 缩进 | send = 发 发送 寄 | write = 写 | ask = 问 询问 | tell, inform = 告诉 通知 |
show = 显示 展示 | check = 检查 核对 | confirm = 确认 | delete, remove = 删 删除 | create = 创建 新建 | change, modify = 修改 更改 |
cancel = 取消 | book, reserve = 订 预订 预定 | buy = 买 购买 | sell = 卖 | pay = 付 交 支付 付款 | renew = 续签 续期 |
return = 退 退货 | run = 跑 运行 | open = 打开 | close = 关 关闭 | save = 保存 | copy = 抄送 复制 | translate = 翻译 | print = 打印 |
sign = 签 签字 | fix, repair = 修 修复 修理 | finish, complete = 完成 | start, begin = 开始 | end = 结束 | update = 更新 |
install = 安装 | upload = 上传 | download = 下载 | submit = 递交 | review = 审核 审查 | prepare = 准备 | remind = 提醒 |
contact = 联系 | visit = 拜访 | collect, pick up = 取 拿 | find = 找 | clean = 打扫
"""

_TRAVEL = """
seat = 座位 座 | window = 靠窗 临窗 窗边 | aisle = 靠过道 过道 走道 | middle = 中间 | front = 前排 | room = 房间 房 |
hotel = 酒店 宾馆 旅馆 | flight = 航班 机票 | train ticket = 火车票 | ticket = 票 | economy = 经济舱 | basic economy = 基础经济舱 |
business = 商务舱 公务舱 | first = 头等舱 | class = 舱 | stopover, layover = 转机 中转 | luggage, baggage = 行李 | airport = 机场 |
station = 车站 | trip = 行程 | business trip = 出差 | vacation, holiday = 假期 度假 | view = 景观 | balcony = 阳台 | bed = 床 |
floor = 楼层 | credit card = 信用卡 | gift card = 礼品卡 | company card = 公司卡 | cash = 现金 | bank transfer = 转账 银行转账 |
alipay = 支付宝 | wechat = 微信 | wechat pay = 微信支付 | dingtalk = 钉钉 | feishu = 飞书 | delivery = 送货 配送 |
parcel, package = 包裹
"""

_TIMES = """
monday = 周一 星期一 礼拜一 | tuesday = 周二 星期二 礼拜二 | wednesday = 周三 星期三 礼拜三 | thursday = 周四 星期四 礼拜四 |
friday = 周五 星期五 礼拜五 | saturday = 周六 星期六 礼拜六 | sunday = 周日 周天 星期日 星期天 礼拜天 | today = 今天 |
tomorrow = 明天 | day after tomorrow = 后天 | yesterday = 昨天 | morning = 上午 早上 早晨 | noon = 中午 | afternoon = 下午 |
evening = 晚上 | night = 夜里 夜间 深夜 | weekend = 周末 | weekday, workday, working day = 工作日 | week = 周 星期 礼拜 |
next week = 下周 下星期 | this week = 这周 本周 | month = 月 | next month = 下个月 下月 | year = 年 | next year = 明年 | day = 天 |
hour = 小时 | minute = 分钟 | o'clock = 点 | summer = 夏天 | winter = 冬天 | spring = 春天 | autumn, fall = 秋天 | every = 每 每个 |
soon = 尽快 | first time = 第一次 | euro = 欧元 欧 | dollar = 美元 美金 | yuan, rmb = 元 块 人民币 | pound = 英镑 | yen = 日元 |
percent = 百分之
"""

_NAMES = """
english = 英文 英语 | british english = 英式英语 | chinese, mandarin = 中文 汉语 普通话 | german = 德语 德文 | french = 法语 法文 |
spanish = 西班牙语 | japanese = 日语 日文 | korean = 韩语 | russian = 俄语 | italian = 意大利语 | portuguese = 葡萄牙语 |
arabic = 阿拉伯语 | cantonese = 粤语 广东话 | siemens = 西门子 | huawei = 华为 | tencent = 腾讯 | alibaba = 阿里巴巴 | bosch = 博世 |
apple inc = 苹果公司 | google = 谷歌 | microsoft = 微软 | amazon = 亚马逊 | red = 红色 红 | blue = 蓝色 蓝 | green = 绿色 绿 |
yellow = 黄色 | black = 黑色 | white = 白色 | grey, gray = 灰色 | purple = 紫色 | pink = 粉色 粉红色 | brown = 棕色
"""

_PLACES = """
beijing = 北京 | shanghai = 上海 | guangzhou = 广州 | shenzhen = 深圳 | hangzhou = 杭州 | nanjing = 南京 | chengdu = 成都 |
wuhan = 武汉 | xi'an, xian = 西安 | chongqing = 重庆 | tianjin = 天津 | suzhou = 苏州 | qingdao = 青岛 | xiamen = 厦门 |
dalian = 大连 | hong kong = 香港 | taipei = 台北 | tokyo = 东京 | osaka = 大阪 | seoul = 首尔 | singapore = 新加坡 | bangkok = 曼谷 |
delhi = 德里 | sydney = 悉尼 | melbourne = 墨尔本 | london = 伦敦 | paris = 巴黎 | berlin = 柏林 | munich = 慕尼黑 | hamburg = 汉堡 |
frankfurt = 法兰克福 | cologne = 科隆 | vienna = 维也纳 | zurich = 苏黎世 | geneva = 日内瓦 | bern = 伯尔尼 | basel = 巴塞尔 |
rome = 罗马 | milan = 米兰 | madrid = 马德里 | barcelona = 巴塞罗那 | lisbon = 里斯本 | porto = 波尔图 | amsterdam = 阿姆斯特丹 |
brussels = 布鲁塞尔 | dublin = 都柏林 | edinburgh = 爱丁堡 | oslo = 奥斯陆 | stockholm = 斯德哥尔摩 | copenhagen = 哥本哈根 |
helsinki = 赫尔辛基 | warsaw = 华沙 | prague = 布拉格 | budapest = 布达佩斯 | athens = 雅典 | istanbul = 伊斯坦布尔 |
moscow = 莫斯科 | dubai = 迪拜 | cairo = 开罗 | new york = 纽约 | boston = 波士顿 | chicago = 芝加哥 | los angeles = 洛杉矶 |
san francisco = 旧金山 | seattle = 西雅图 | toronto = 多伦多 | vancouver = 温哥华 | lyon = 里昂 | lille = 里尔 | china = 中国 |
germany = 德国 | france = 法国 | spain = 西班牙 | italy = 意大利 | japan = 日本 | korea = 韩国 | england = 英格兰 | britain = 英国 |
america, usa = 美国 | canada = 加拿大 | australia = 澳大利亚 | switzerland = 瑞士 | austria = 奥地利 | portugal = 葡萄牙 |
netherlands = 荷兰 | belgium = 比利时 | india = 印度 | russia = 俄罗斯
"""

ENTRIES = tuple(
    (tuple(part.strip() for part in english.split(",")), tuple(chinese.split()))
    for table in (_TASTES, _FOOD, _LIFE, _WORK, _TRAVEL, _TIMES, _NAMES, _PLACES)
    for english, _, chinese in (" ".join(entry.split()).partition(" = ") for entry in table.split("|") if entry.strip())
)
"""(English words, Chinese words) per concept; the first English word names it."""

PLACES = frozenset(entry.partition(" = ")[0].split(",")[0].strip() for entry in _PLACES.split("|"))
"""From where to where is not told by a bag of words either."""

PERSONS = frozenset(
    (
        "child", "son", "daughter", "mother", "father", "wife", "husband", "parent", "friend", "boss", "manager", "colleague", "customer",
        "neighbour", "roommate", "doctor", "nurse", "dentist", "teacher", "student", "lawyer", "accountant",
    )
)  # fmt: skip
"""Who does it and to whom is not told by a bag of words: these are noted where they stand first, and two of them are not compared."""

_VALUES = """
window=靠窗 | aisle=靠过道 | middle=中间 | front=前排 | English=英文 | Chinese=中文 | British English=英式英语 | German=德语 |
French=法语 | Spanish=西班牙语 | Japanese=日语 | none=不用 | welcome=可以用 | concise=简洁 | detailed=详细 | step by step=分步 |
bullet points=要点 | formal=正式 | informal=随意 | friendly=亲切 | metric=公制 | imperial=英制 | e-mail=邮件 | telephone=电话 |
text message=短信 | WeChat=微信 | DingTalk=钉钉 | Feishu=飞书 | credit card=信用卡 | gift card=礼品卡 | Alipay=支付宝 |
WeChat Pay=微信支付 | invoice=发票 | bank transfer=转账 | company card=公司卡 | basic economy=基础经济舱 | economy=经济舱 |
business=商务舱 | first=头等舱 | vegan=纯素 | vegetarian=素食 | halal=清真 | eats meat=吃肉 | table=表格 | tabs=制表符 | spaces=空格
"""

VALUES_ZH = dict(pair.strip().split("=") for pair in " ".join(_VALUES.split()).split("|"))
"""The listed values of slots in Chinese: a memory speaks the language of its transcript."""

WHOLE_VALUES = {zh: en.lower() for en, zh in VALUES_ZH.items()} | {"喜欢": "likes", "不喜欢": "dislikes"}
"""Values that stand alone in a slot, Chinese to English."""
