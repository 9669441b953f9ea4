"""Sixty short sentences per language, no two about the same thing: the background that calibration measures.

In the shapes of what is remembered and asked: facts, wishes, lessons, questions. Changing one changes every model's calibration: measure
the shipped ones again.
"""

_EN = """
The ferry to the island leaves at noon on weekdays
Whisk the egg whites before you fold in the sugar
Retry the payment call only after the lock is released
How many chairs fit in the small meeting room?
My grandmother grows tomatoes on her balcony
The database backup runs every night at two
Prefers answers in short bullet points
The violin needs new strings before the concert
Which visa do I need for a work trip to Brazil?
The goalkeeper saved two penalties in the final
Compile with warnings treated as errors
Our cat sleeps on top of the warm printer
Ask for the invoice number before opening a dispute
The museum is closed on the first Monday of the month
Rainfall in the valley doubled within ten years
Never restart the router while firmware is updating
The tailor will shorten the trousers by Friday
What is the melting point of silver?
Customers with a gold card board first
The novel is set in a lighthouse during a war
Translate the contract clause word for word
The bakery sells out of rye bread by nine
An index on the date column made the report fast
He broke his wrist while skating on the lake
Send the weekly summary to the finance team
Is the hiking trail open after the landslide?
The hotel refunded the deposit without asking
Solar panels on the barn power the whole farm
Rename the branch before you merge it
The dentist recommends a softer toothbrush
The parcel was left with the neighbour downstairs
Sort the list by price, then by rating
Two bolts on the rear wheel were loose
Where can I exchange foreign coins at the airport?
The choir rehearses in the old chapel
Allergic to peanuts and shellfish
The exam covers the first six chapters
Check the stock level before promising a delivery date
A thin layer of ice covered the windscreen
The startup moved its office to the harbour
Mute the microphone when you are not speaking
Why does the test fail only on the build server?
The orchard lost half its apples to the frost
Upload the photo as a square image
She learned to juggle from a street artist
The insurance does not cover water damage
Convert the amounts to euros before adding them
The last train was replaced by a bus
Whales were seen close to the northern shore
Keep the old password valid for one more day
The carpenter measured the staircase twice
How do I cancel my gym membership?
The speaker arrived late because of fog
Paint the fence before the rainy season
The robot arm lost its calibration after the power cut
Window seats cost extra on night flights
The librarian found the missing atlas
Choose the cheaper supplier when both deliver on time
The twins were born on different days
Fireworks are banned in the nature reserve
"""

_ZH = """
去海岛的渡轮工作日中午出发
打发蛋白之后再加入白糖
释放锁之后才能重试付款接口
小会议室最多能放几把椅子？
奶奶在阳台上种了西红柿
数据库每天凌晨两点备份
喜欢用简短的要点回答
小提琴演出前要换琴弦
去巴西出差需要什么签证？
守门员在决赛里扑出两个点球
编译时把警告当作错误处理
我家的猫爱睡在打印机上
提出争议之前先问清发票号码
博物馆每月第一个星期一闭馆
十年间山谷的降雨量翻了一倍
固件升级时千万不要重启路由器
裁缝星期五之前会把裤子改短
银的熔点是多少度？
金卡会员优先登机
小说讲的是战争时期的一座灯塔
合同条款要逐字翻译
面包店九点前黑麦面包就卖光了
给日期列加索引后报表快多了
他在湖上滑冰时摔断了手腕
每周总结发给财务部门
山体滑坡以后登山步道开放了吗？
酒店二话没说就退了押金
谷仓上的太阳能板供全农场用电
合并之前先给分支改名
牙医建议换更软的牙刷
包裹放在楼下邻居家了
先按价格再按评分排序
后轮有两颗螺丝松了
机场哪里可以兑换外币硬币？
合唱团在老教堂里排练
对花生和贝类过敏
考试范围是前六章
答应交货日期之前先查库存
挡风玻璃上结了一层薄冰
那家创业公司把办公室搬到了港口
不发言的时候请关闭麦克风
为什么测试只在构建服务器上失败？
果园一半的苹果毁于霜冻
照片请按正方形上传
她跟街头艺人学会了抛球
这份保险不赔水渍损失
相加之前先把金额换算成欧元
末班火车改成了大巴
有人在北岸附近看到了鲸鱼
旧密码再保留一天有效
木匠把楼梯量了两遍
怎样取消健身房会员？
演讲者因为大雾迟到了
雨季之前把篱笆刷一遍漆
停电之后机械臂失去了校准
夜间航班靠窗座位要加钱
图书管理员找到了丢失的地图册
两家都能按时交货就选便宜的
这对双胞胎生日不在同一天
自然保护区禁止燃放烟花
"""


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.strip().splitlines())


BACKGROUND = {"en": _lines(_EN), "zh": _lines(_ZH)}
"""Language → sentences."""
